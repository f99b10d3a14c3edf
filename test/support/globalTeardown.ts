import { rm } from 'node:fs/promises';

/** Stops the databases, and deletes what the run left on disk. */
export default async function globalTeardown(): Promise<void> {
  await Promise.all((globalThis.testDatabases ?? []).map((database) => database.stop()));
  if (globalThis.testFolder !== undefined) await rm(globalThis.testFolder, { recursive: true, force: true });
}
