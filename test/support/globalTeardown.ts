import { rm } from 'node:fs/promises';
import { shareOf } from './writtenShare';

/** Prints how answers were written, stops the databases, and deletes what the run left on disk. */
export default async function globalTeardown(): Promise<void> {
  const share = await shareOf(process.env.WRITTEN_ANSWERS ?? '');
  if (share !== undefined) process.stderr.write(`${share}\n`);
  await Promise.all((globalThis.testDatabases ?? []).map((database) => database.stop()));
  if (globalThis.testFolder !== undefined) await rm(globalThis.testFolder, { recursive: true, force: true });
}
