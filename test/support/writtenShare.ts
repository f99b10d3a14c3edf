import { appendFile, readFile } from 'node:fs/promises';

/*
 * How many answers of a whole test run were written from the database's bytes, and why others were not: each gateway adds its counts to
 * a file when it stops, and the run prints the sums.
 */

/** The counts of {@link addShare} by where answers were written from and why. */
export type WrittenAnswers = ReadonlyMap<string, number>;

const COUNT = /^scopegate_written_answers_total\{from="(\w+)",reason="(\w+)"\} (\d+)$/gm;

/** How many answers a gateway has written so far, by "bytes" or "objects" and why. */
export async function writtenBy({ url }: { readonly url: string }): Promise<WrittenAnswers> {
  return sum(await (await fetch(`${url}/metrics`)).text());
}

/** Adds a gateway's counts to the run's. */
export async function addShare(gateway: { readonly url: string }): Promise<void> {
  const { WRITTEN_ANSWERS } = process.env;
  if (WRITTEN_ANSWERS === undefined) return;
  const lines = await fetch(`${gateway.url}/metrics`).then(
    async (answer) => [...(await answer.text()).matchAll(COUNT)].map(([line]) => `${line}\n`),
    // metrics may be elsewhere
    () => [],
  );
  await appendFile(WRITTEN_ANSWERS, lines.join(''));
}

/** The run's counts in words; undefined if there are none. */
export async function shareOf(file: string): Promise<string | undefined> {
  const counts = sum(await readFile(file, 'utf8').catch(() => ''));
  const all = [...counts.values()].reduce((one, other) => one + other, 0);
  const parts = [...counts].map(([what, count]) => `${what.replace(' none', '')} ${String(count)}`);
  return all === 0 ? undefined : `answers that can be written from bytes: ${parts.sort().join(', ')}`;
}

function sum(text: string): WrittenAnswers {
  const counts = new Map<string, number>();
  for (const [, from, reason, count] of text.matchAll(COUNT)) {
    const what = `${from!} ${reason!}`;
    counts.set(what, (counts.get(what) ?? 0) + Number(count));
  }
  return counts;
}
