import { rm } from 'node:fs/promises';
import { shareOf } from './writtenShare';

/** Prints how answers were written, stops the database, and deletes its data, a few hundred megabytes. */
export default async function globalTeardown(): Promise<void> {
  const share = await shareOf(process.env.WRITTEN_ANSWERS ?? '');
  if (share !== undefined) process.stderr.write(`${share}\n`);
  await globalThis.testDatabase?.stop();
  if (globalThis.testFolder !== undefined) await rm(globalThis.testFolder, { recursive: true, force: true });
}
