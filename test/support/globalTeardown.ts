import { rm } from 'node:fs/promises';

/** Stops the database, and deletes its data, which are some hundred megabytes. */
export default async function globalTeardown(): Promise<void> {
  await globalThis.testDatabase?.stop();
  if (globalThis.testFolder !== undefined) await rm(globalThis.testFolder, { recursive: true, force: true });
}
