import { type Json } from '../../support/client';
import { launch } from '../examples/run';

/** A client under test, with a driver that makes the calls it reads from stdin. */
export interface Language {
  readonly name: string;
  /** The interpreter of drivers and examples, once the client is installed. */
  readonly command: () => string;
  readonly driver: () => string;
}

/** What a driver prints about a call. */
export interface Outcome {
  readonly result?: Json;
  readonly error?: Json;
  readonly rows: Json[];
  readonly retries: { readonly retry: string; readonly seconds: number; readonly shown: string }[];
}

export interface Options {
  readonly url?: string;
  readonly key?: string;
  readonly retries?: number;
  readonly timeout?: number;
}

/** Whether a driver waits before retries as long as the client says, or shorter if it can. */
export type Waits = 'real' | 'short';

const running = new Set<ReturnType<typeof launch>>();
/** Ends processes that a failed test left running. */
afterEach(async () => {
  for (const driver of running) await driver.kill();
});

/** Makes calls one after another, and returns the outcome of each. */
export async function calling(
  { command, driver }: Language,
  options: Options,
  calls: object[],
  waits: Waits = 'short',
): Promise<Outcome[]> {
  const input = JSON.stringify({ options: { key: 'key', ...options }, calls, waits });
  const program = launch(command(), [driver()], { input, env: { PYTHONDONTWRITEBYTECODE: '1' } });
  running.add(program);
  const code = await program.closed;
  running.delete(program);
  if (code !== 0) throw new Error(program.said());
  const outcomes: Outcome[] = [];
  let [rows, retries]: [Json[], Outcome['retries']] = [[], []];
  for (const line of program.stdout().trim().split('\n')) {
    const said: Json = JSON.parse(line);
    if ('row' in said) rows.push(said.row);
    else if ('retry' in said) retries.push(said);
    else {
      outcomes.push({ ...said, rows, retries });
      [rows, retries] = [[], []];
    }
  }
  return outcomes;
}
