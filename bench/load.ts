import autocannon from 'autocannon';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { type Random, seeded } from '../faults/random';
import { cpuSeconds } from './machine';

/* Load on one server: its maximum, and half of that. */

export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Whether its latency counts in a mixed load. */
  readonly isRead?: true;
}

/** Returns the next call of a connection. */
export type NextCall = (random: Random, connection: number) => Call;

export interface Target {
  readonly url: string;
  readonly pid: number;
}

export interface LoadOptions {
  readonly next: NextCall;
  readonly connections: number;
  readonly seconds: number;
  readonly seed: number;
  /** Expected status of every answer. */
  readonly status: number;
  /** Maximum calls of each connection a second. */
  readonly maxPerSecond?: number | undefined;
}

export interface PacedOptions extends LoadOptions {
  readonly perSecond: number;
  readonly isMixed?: boolean;
}

export interface Sample {
  readonly perSecond: number;
  /** The server's CPU time in microseconds per request; undefined if it cannot be read. */
  readonly cpu: number | undefined;
  /** In milliseconds, ascending. */
  readonly latencies: readonly number[];
}

/** Time until all connections are busy, in milliseconds. */
const RAMP = 200;
/** Maximum wait for the first answer, in milliseconds. */
const LONGEST_ROUND = 120_000;
/** Number of calls that a connection cycles through. */
const CALLS = 400;
/** Limit on the bodies of a connection, which are built in advance; if they are large, there are fewer calls. */
const MAX_BYTES = 2_000_000;

/** Answers 200 of keys over their limit: a minute can end during a measurement, and each of four keys then gets one. */
const NEW_WINDOWS = 8;

/** Keeps every connection busy and measures after a short ramp-up. @throws Error if an answer has an unexpected status. */
export async function saturate({ url, pid }: Target, options: LoadOptions): Promise<Sample> {
  const wrong = new Map<number, number>();
  let counted = 0;
  let latencies: number[] = [];
  let connection = 0;
  const run = autocannon(
    {
      url,
      connections: options.connections,
      duration: 3600,
      // of an answer, in seconds
      timeout: 120,
      ...(options.maxPerSecond !== undefined && { connectionRate: options.maxPerSecond }),
      sampleInt: 100,
      setupClient: (client) => {
        client.setRequests(callsOf(options, connection));
        connection += 1;
      },
    },
    () => undefined,
  );
  const ended = new Promise((resolve) => run.once('done', resolve));
  run.on('response', (_client, status, _bytes, milliseconds) => {
    counted += 1;
    latencies.push(milliseconds);
    if (status !== options.status) wrong.set(status, (wrong.get(status) ?? 0) + 1);
  });
  run.on('reqError', () => wrong.set(0, (wrong.get(0) ?? 0) + 1));
  await pause(Math.min(RAMP, options.seconds * 1000));
  counted = 0;
  wrong.clear();
  latencies = [];
  const [started, before] = [performance.now(), await cpuSeconds(pid)];
  await pause(options.seconds * 1000);
  // a call can take longer than a short round, and there must be at least one answer
  while (counted === 0 && performance.now() - started < LONGEST_ROUND) await pause(100);
  const [after, seconds] = [await cpuSeconds(pid), (performance.now() - started) / 1000];
  const sample = { perSecond: counted / seconds, cpu: share(before, after, counted), latencies: ascending(latencies) };
  run.stop();
  await ended;
  if (options.status === 429 && (wrong.get(200) ?? 0) <= NEW_WINDOWS) wrong.delete(200);
  if (wrong.size > 0)
    throw new Error(`${url} returned other statuses than ${String(options.status)}: ${describe(wrong)}`);
  if (counted === 0) throw new Error(`${url} sent no answer within ${seconds.toFixed(1)} s`);
  return sample;
}

function callsOf({ next, seed }: LoadOptions, connection: number): autocannon.Request[] {
  const random = seeded(seed * 1009 + connection);
  const calls: autocannon.Request[] = [];
  for (let bytes = 0; calls.length < CALLS && bytes < MAX_BYTES;) {
    const { headers, isRead: _isRead, ...call } = next(random, connection);
    calls.push({ ...call, headers: { ...headers } });
    bytes += call.body?.length ?? 0;
  }
  return calls;
}

function share(before: number | undefined, after: number | undefined, counted: number): number | undefined {
  return before === undefined || after === undefined ? undefined : ((after - before) / counted) * 1e6;
}

function describe(wrong: ReadonlyMap<number, number>): string {
  return [...wrong]
    .map(([status, count]) => `${String(count)} × ${status === 0 ? 'no answer' : String(status)}`)
    .join(', ');
}

/**
 * Sends requests independently of the answers (exponential intervals), `perSecond` on average. Returns the latencies,
 * ascending; for a mixed load, only those of the reads.
 */
export async function pace({ url }: Target, options: PacedOptions): Promise<number[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: options.connections * 4 });
  const random = seeded(options.seed);
  const latencies: number[] = [];
  const sent: Promise<void>[] = [];
  const end = performance.now() + options.seconds * 1000;
  for (let due = performance.now(); due < end; due += (-Math.log(1 - random()) / options.perSecond) * 1000) {
    const wait = due - performance.now();
    if (wait > 1) await pause(wait);
    const from = performance.now();
    const call = options.next(random, sent.length % options.connections);
    const isMixed = options.isMixed === true;
    sent.push(
      send(agent, url, call, options.status).then(() => {
        if (!isMixed || call.isRead) latencies.push(performance.now() - from);
      }),
    );
  }
  await Promise.all(sent);
  agent.destroy();
  return ascending(latencies);
}

async function send(agent: Agent, url: string, call: Call, expected: number): Promise<void> {
  const { status } = await ask(agent, url, call);
  if (status !== expected) throw new Error(`${call.method} ${url}${call.path} returned ${String(status)}`);
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends one call on a new connection. */
export function fetchOnce({ url }: Pick<Target, 'url'>, call: Call): Promise<Answer> {
  return ask(false, url, call);
}

function ask(agent: Agent | false, url: string, { method, path, headers, body }: Call): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url + path, { agent, method, headers: { ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).once('error', reject);
      response.once('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks).toString(),
        });
      });
    });
    asked.once('error', reject);
    asked.end(body);
  });
}

function ascending(values: readonly number[]): number[] {
  return values.toSorted((left, right) => left - right);
}
