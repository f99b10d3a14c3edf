import { join } from 'node:path';
import { ROOT } from '../tools/facts';
import type { Questions } from './asker';
import { isSuccess, labelOf, Tally } from './client';
import type { Gateway } from './gateway';
import { number, type Promises } from './outcome';
import { runToEnd } from './processes';
import { milliseconds, quantile, sleep } from './timing';

/** Pause between two requests of a caller whose times are compared, in milliseconds. */
const PAUSE = 2;
/** The same for a caller that only has to be served: it must not be part of the load. */
export const PROBE_PAUSE = 25;

/** Requests of someone whom a fault does not concern. */
export interface Beside {
  /** What they were answered. */
  readonly tally: Tally;
  /** Milliseconds of each success. */
  readonly latencies: readonly number[];
  readonly asked: () => number;
}

/** Asks for one address after another, again and again, until it is stopped. */
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

/** Asks for some milliseconds. */
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

/** Asks for some milliseconds, from a process of its own. */
export async function askElsewhere(
  ms: number,
  { port }: Gateway,
  paths: readonly string[],
  key: string,
): Promise<Beside> {
  const questions: Questions = { port, ms, paths, key };
  const args = ['--import', 'tsx', join(ROOT, 'faults', 'asker.ts'), JSON.stringify(questions)];
  const { counts, latencies, asked } = JSON.parse(await runToEnd(process.execPath, args, process.env)) as {
    counts: [string, number][];
    latencies: number[];
    asked: number;
  };
  return { tally: new Tally(counts), latencies, asked: () => asked };
}

/** Keeps the promise that each request was answered 200, some at least, and soon. */
export function keepServed(promises: Promises, who: string, beside: Beside, slowestMs: number): void {
  const { tally, latencies, asked } = beside;
  promises.keep(asked() > 0 && tally.count('200') === asked(), `${who}: ${tally.toString()}`);
  const slowest = Math.max(0, ...latencies);
  promises.keep(slowest <= slowestMs, `${who}: the slowest answer took ${milliseconds(slowest)}`);
}

export function describe(who: string, { tally, latencies }: Beside): string {
  const [usual, most] = [quantile(latencies, 0.5), quantile(latencies, 0.99)];
  return `${who}: ${tally.toString()}; ${milliseconds(usual)} in the median, ${milliseconds(most)} in the 99th percentile of ${number(latencies.length)}.`;
}
