import { join } from 'node:path';
import { ROOT } from '../tools/facts';
import type { Questions } from './asker';
import { isSuccess, labelOf, Tally } from './client';
import type { Gateway } from './gateway';
import { number, type Promises } from './outcome';
import { runToEnd } from './processes';
import { milliseconds, quantile, sleep } from './timing';

/** Pause between two requests of a background client whose latencies are compared, in milliseconds. */
const PAUSE = 2;
/** The same for a client that only checks that it is served: it must not add load. */
export const PROBE_PAUSE = 25;

/** Requests of a client that the fault should not affect. */
export interface Beside {
  /** Responses by status. */
  readonly tally: Tally;
  /** Latency of each successful request, in milliseconds. */
  readonly latencies: readonly number[];
  readonly asked: () => number;
}

/** Requests the paths in turn until stopped. */
export function askBeside(
  gateway: Pick<Gateway, 'call'>,
  paths: readonly string[],
  key?: string,
  pause = PAUSE,
): Beside & { stop(): Promise<Beside> } {
  const tally = new Tally();
  const latencies: number[] = [];
  let [asked, isOver] = [0, false];
  const asking = (async () => {
    for (; !isOver; asked += 1) {
      const reply = await gateway.call({ method: 'GET', path: paths[asked % paths.length] ?? '/', key });
      tally.add(labelOf(reply));
      if (isSuccess(reply)) latencies.push(reply.ms);
      await sleep(pause);
    }
  })();
  const beside = { tally, latencies, asked: () => asked };
  return {
    ...beside,
    async stop() {
      isOver = true;
      await asking;
      return beside;
    },
  };
}

/** Runs such a client for `ms` milliseconds. */
export async function askFor(
  ms: number,
  gateway: Pick<Gateway, 'call'>,
  paths: readonly string[],
  key?: string,
): Promise<Beside> {
  const asking = askBeside(gateway, paths, key);
  await sleep(ms);
  return asking.stop();
}

/** The same from a separate process. */
export async function askElsewhere(
  ms: number,
  { port }: Gateway,
  paths: readonly string[],
  key?: string,
): Promise<Beside> {
  const questions: Questions = { port, ms, paths, ...(key !== undefined && { key }) };
  const args = ['--import', 'tsx', join(ROOT, 'faults', 'asker.ts'), JSON.stringify(questions)];
  const { counts, latencies, asked } = JSON.parse(await runToEnd(process.execPath, args, process.env)) as {
    counts: [string, number][];
    latencies: number[];
    asked: number;
  };
  return { tally: new Tally(counts), latencies, asked: () => asked };
}

/** Checks that there were requests, that all were answered 200, and that none took longer than `slowestMs`. */
export function keepServed(promises: Promises, who: string, beside: Beside, slowestMs: number): void {
  const { tally, latencies, asked } = beside;
  promises.keep(asked() > 0 && tally.count('200') === asked(), `${who}: ${tally.toString()}`);
  const slowest = Math.max(0, ...latencies);
  promises.keep(slowest <= slowestMs, `${who}: the slowest answer took ${milliseconds(slowest)}`);
}

export function describe(who: string, { tally, latencies }: Beside): string {
  const [usual, most] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
  return `${who}: ${tally.toString()}; median ${milliseconds(usual)}, 99th percentile ${milliseconds(most)} of ${number(latencies.length)}.`;
}
