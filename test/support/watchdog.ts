import { appendFileSync, existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type CommandLine, commandLine, type Environment, serve } from '../cli/commandLine';
import { late } from './gateway';

/*
 * Runs the worst that a caller can send against `serve` in a process of its own, and fails if others noticed: if /livez or another
 * organisation's read was late, the time left out for which the machine ran other programs, or if files, connections or memory did not come back. With WATCHDOG_REPORT set to a file, the figures of
 * each run are appended to it.
 */

/**
 * How late /livez may be, and how long a turn of the event loop: in milliseconds, or on a slow machine as a multiple of a fixed computation
 * timed in the same run. Lateness is allowed more where other programs have the processors, by as much as the gateway took longer for it.
 */
const LATE = 200;
const COMPUTATIONS = 10;
/** The other organisation's read also waits for the database, so this multiple of its usual time is added. */
const READS = 10;
/** SecantusDB's Python server does one thing at a time, so a large write delays reads whatever the gateway does. */
const READS_TELL = process.env.TEST_DATABASE !== 'secantusdb';
/** Memory that may be kept, in MiB. */
const KEPT = 64;
/** Time for files, connections and memory to come back, in milliseconds. */
const SETTLED_WITHIN = 15_000;
/** Time for a garbage collection to begin, in milliseconds. */
const COLLECTED_WITHIN = 30_000;
/** How often the other organisation reads, in milliseconds: seldom enough for its key's limit. */
const READ_EVERY = 150;
/** How long it is watched first, in milliseconds, to learn the usual time of a read and load everything. */
const CALM = 1000;
const MIB = 1024 * 1024;

/** How often a run is repeated if only times, or answers of 503, were wrong. */
const REPEATS = 3;

const COLLECTING = join(__dirname, 'collecting.cjs');
/** Where a process reports how much it uses; its pid follows. */
const COLLECTED = join(tmpdir(), 'collected');
const PROBE = join(__dirname, 'watchdogProbe.js');

/** A served gateway under watch. */
interface Watched extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Organisation and key of the worst caller. */
  readonly organisation: string;
  readonly key: string;
  /** Header of the other organisation's key. */
  readonly other: string;
  readonly cli: CommandLine;
  /** Another key, of that organisation unless given. */
  makeKey(organisation?: string): Promise<string>;
  stop(): Promise<unknown>;
}

/** Starts `serve` with a control database of its own; limits are those of production unless given. */
export async function startWatched(environment: Environment = {}, options: readonly string[] = []): Promise<Watched> {
  const cli = commandLine({ EVENTS: 'off', ...environment });
  const makeOrganisation = async (name: string): Promise<string> =>
    (await cli.json<{ id: string }>('org', 'create', '--name', name)).id;
  const makeKey = async (of: string): Promise<string> =>
    (await cli.json<{ key: string }>('key', 'create', '--org', of, ...'--name key --scopes all --mcp write'.split(' ')))
      .key;
  const organisation = await makeOrganisation('Worst');
  const node = [`--require ${COLLECTING}`, environment.NODE_OPTIONS ?? ''].join(' ');
  const { url, child, stop } = await serve(cli, options, { NODE_OPTIONS: node, COLLECTED });
  return {
    url,
    pid: child.pid!,
    organisation,
    key: await makeKey(organisation),
    other: `Bearer ${await makeKey(await makeOrganisation('Other'))}`,
    cli,
    makeKey: (of = organisation) => makeKey(of),
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

/** The same for the tests of a file or describe. */
export function watchedGateway(...options: Parameters<typeof startWatched>): Watched {
  const gateway = late(() => startWatched(...options));
  afterAll(() => gateway.stop());
  return gateway;
}

/** Posts JSON on its own connection, with the worst caller's key unless the headers have another. */
export async function post(
  { url, key }: Watched,
  path: string,
  body: object | string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const json = { accept: 'application/json', 'content-type': 'application/json', connection: 'close' };
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, ...json, ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status: answer.status, text: await answer.text() };
}

export interface Bounds {
  /** Whether another organisation's reads are watched too; on by default, where the database does more than one thing at a time. */
  readonly reads?: boolean;
  /** Memory that may be kept, in MiB. */
  readonly kept?: number;
  /** Time for files, connections and memory to come back, in milliseconds. */
  readonly settledWithin?: number;
  /** How much resident memory may grow at any time, in MiB. */
  readonly peak?: number;
}

/** Milliseconds and MiB. */
export interface Report {
  readonly late: number;
  readonly lateLimit: number;
  /** The longest turn of the event loop, in processor time. */
  readonly turn: number;
  readonly turnLimit: number;
  readonly readLate: number;
  readonly readLimit: number;
  /** Statuses other than 200 of either, 0 for none. */
  readonly failures: readonly number[];
  readonly files: readonly [before: number, after: number];
  readonly connections: readonly [before: number, most: number, after: number];
  /** Resident. */
  readonly memory: readonly [before: number, most: number];
  /** Used by the process' own account, when garbage is collected. */
  readonly kept: readonly [before: number, after: number];
}

/** What was measured of each gateway before its first `worst`. */
const CALM_OF: Record<string, Awaited<ReturnType<typeof probing>>> = {};

/**
 * Runs `worst` while others are served, and again if nothing but times was wrong: what the machine does beside it may delay an answer or slow the
 * processor, and what `worst` does takes long each time. @throws an error that lists everything that is wrong
 */
export async function watch(
  gateway: Watched,
  name: string,
  worst: () => Promise<unknown>,
  bounds: Bounds = {},
): Promise<Report> {
  let report = await watchOnce(gateway, name, worst, bounds);
  for (let repeats = 0; repeats < REPEATS && isOnlyLate(report, bounds); repeats += 1)
    report = await watchOnce(gateway, name, worst, bounds);
  const faults = faultsOf(report, bounds);
  if (faults.length > 0) throw new Error(`${name}: ${faults.join('; ')}`);
  return report;
}

function isOnlyLate(report: Report, bounds: Bounds): boolean {
  // a 503 is the answer if the database was late
  const failures = report.failures.filter((status) => status !== 503);
  const others = { ...report, lateLimit: Infinity, turnLimit: Infinity, readLimit: Infinity, failures };
  return faultsOf(report, bounds).length > 0 && faultsOf(others, bounds).length === 0;
}

/** Measures a gateway that has nothing to do; again if the database was late, for which 503 is the answer. @throws if others are answered anything else */
async function measureCalm(of: Parameters<typeof probing>[0], name: string) {
  for (let repeats = 0; ; repeats += 1) {
    const calm = await probing(of, () => sleep(CALM));
    const wrong = [...calm.livez.failures, ...calm.reads.failures];
    if (wrong.length === 0) return calm;
    if (repeats === REPEATS || wrong.some((status) => status !== 503))
      throw new Error(`others were answered ${wrong.join(', ')} before ${name} began`);
  }
}

async function watchOnce(
  { url, pid, other }: Watched,
  name: string,
  worst: () => Promise<unknown>,
  bounds: Bounds,
): Promise<Report> {
  const targets = [
    { url: `${url}/livez` },
    { url: `${url}/api/v1/products?limit=1`, headers: { authorization: other }, every: READ_EVERY },
  ].slice(0, (bounds.reads ?? READS_TELL) ? 2 : 1);
  const calm = (CALM_OF[`${url} ${String(targets.length)}`] ??= await measureCalm({ pid, targets }, name));
  const port = Number(new URL(url).port);
  const { used } = await collected(pid);
  const before = usage(pid, port);
  let most = before;
  const sampling = setInterval(() => {
    const now = usageWhileAlive(pid, port);
    most = {
      files: Math.max(most.files, now.files),
      connections: Math.max(most.connections, now.connections),
      memory: Math.max(most.memory, now.memory),
    };
  }, 100);
  const { livez, reads, computed, stretch } = await probing({ pid, targets }, worst).finally(() => {
    clearInterval(sampling);
  });
  const { turn } = await collected(pid);
  const kept = bounds.kept ?? KEPT;
  const isBack = (now: Usage, bytes: number): boolean =>
    now.files <= before.files && now.connections <= before.connections && bytes <= used + kept * MIB;
  const after = await settled({ pid, port, within: bounds.settledWithin ?? SETTLED_WITHIN }, isBack);
  const usual = Math.max(calm.computed, computed) * COMPUTATIONS;
  const mib = (bytes: number): number => Math.round(bytes / MIB);
  const report: Report = {
    late: Math.round(Math.max(0, ...livez.waits)),
    lateLimit: Math.round(Math.max(LATE, usual) * stretch),
    turn: Math.round(turn),
    turnLimit: Math.round(Math.max(LATE, usual)),
    readLate: Math.round(Math.max(0, ...reads.waits)),
    readLimit: Math.round((Math.max(LATE, usual) + READS * median(calm.reads.waits)) * stretch),
    failures: [...livez.failures, ...reads.failures],
    files: [before.files, after.files],
    connections: [before.connections, most.connections, after.connections],
    memory: [mib(before.memory), mib(most.memory)],
    kept: [mib(used), mib(after.used)],
  };
  const { WATCHDOG_REPORT: file } = process.env;
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ name, ...report })}\n`);
  return report;
}

function faultsOf(report: Report, { kept: most = KEPT, peak = Infinity }: Bounds = {}): string[] {
  const { late, lateLimit, turn, turnLimit, readLate, readLimit, failures, files, connections, memory, kept } = report;
  const more = (what: string, [before, after]: readonly [number, number]): string[] =>
    after > before ? [`${String(after)} ${what} are open, ${String(before)} before`] : [];
  return [
    ...(late > lateLimit ? [`/livez was late by ${String(late)} ms (${String(lateLimit)} allowed)`] : []),
    ...(turn > turnLimit
      ? [`a turn of the event loop took ${String(turn)} ms of the processor (${String(turnLimit)} allowed)`]
      : []),
    ...(readLate > readLimit
      ? [`another organisation's read was late by ${String(readLate)} ms (${String(readLimit)} allowed)`]
      : []),
    ...(failures.length > 0 ? [`others were answered ${[...new Set(failures)].join(', ')}`] : []),
    ...more('files', files),
    ...more('connections', [connections[0], connections[2]]),
    ...(memory[1] > memory[0] + peak ? [`${String(memory[1])} MiB were used, ${String(memory[0])} before`] : []),
    ...(kept[1] > kept[0] + most ? [`${String(kept[1])} MiB are kept, ${String(kept[0])} before`] : []),
  ];
}

interface Seen {
  readonly waits: readonly number[];
  readonly failures: readonly number[];
}

/** Probes from a thread while `work` runs. */
async function probing(
  watched: { readonly pid: number; readonly targets: readonly object[] },
  work: () => Promise<unknown>,
): Promise<{ livez: Seen; reads: Seen; computed: number; stretch: number }> {
  const thread = new Worker(PROBE, { workerData: watched });
  const done = new Promise<{ results: Seen[]; computed: number; stretch: number }>((resolve, reject) => {
    thread.once('message', resolve).once('error', reject);
  });
  try {
    await work();
    thread.postMessage('end');
    const { results, computed, stretch } = await done;
    const none: Seen = { waits: [], failures: [] };
    return { livez: results[0] ?? none, reads: results[1] ?? none, computed, stretch };
  } finally {
    await thread.terminate();
  }
}

interface Usage {
  readonly files: number;
  readonly connections: number;
  readonly memory: number;
}

/** The usage, or all 0 once the process has ended: of a test that ran out of time, or is over. */
function usageWhileAlive(pid: number, port: number): Usage {
  try {
    return usage(pid, port);
  } catch {
    return NONE;
  }
}

const NONE: Usage = { files: 0, connections: 0, memory: 0 };

/** Files (not sockets, of which the database's may stay), connections to the port, and memory; all 0 where there is no /proc. */
function usage(pid: number, port: number): Usage {
  const folder = `/proc/${String(pid)}`;
  if (!existsSync(folder)) return NONE;
  const open = readdirSync(`${folder}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`${folder}/fd/${fd}`);
    } catch {
      return [];
    }
  });
  const local = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = readFileSync(`${folder}/net/tcp`, 'utf8').split('\n').slice(1);
  const inodes = rows.map((row) => row.trim().split(/\s+/)).filter(([, address]) => address?.endsWith(local));
  const ours = new Set(inodes.map(([, , , , , , , , , inode]) => `socket:[${String(inode)}]`));
  return {
    files: open.filter((target) => target.startsWith('/')).length,
    connections: open.filter((target) => ours.has(target)).length,
    memory: Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`${folder}/status`, 'utf8'))?.[1] ?? 0) * 1024,
  };
}

/** Collects garbage in the process, once it is free to. Resolves with the bytes in use afterwards, and the longest turn since the last time. */
async function collected(pid: number): Promise<{ readonly used: number; readonly turn: number }> {
  const file = `${COLLECTED}-${String(pid)}`;
  rmSync(file, { force: true });
  process.kill(pid, 'SIGWINCH');
  for (let waited = 0; waited < COLLECTED_WITHIN && !existsSync(file); waited += 50) await sleep(50);
  return JSON.parse(readFileSync(file, 'utf8')) as Awaited<ReturnType<typeof collected>>;
}

/** One may take longer than all the time there is. */
const LEAST_LOOKS = 5;

async function settled(
  { pid, port, within }: { readonly pid: number; readonly port: number; readonly within: number },
  isSo: (now: Usage, used: number) => boolean,
): Promise<Usage & { readonly used: number }> {
  const latest = performance.now() + within;
  for (let looks = 1; ; looks += 1) {
    const { used } = await collected(pid);
    const now = usage(pid, port);
    if (isSo(now, used) || (looks >= LEAST_LOOKS && performance.now() > latest)) return { ...now, used };
    await sleep(300);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((value, two) => value - two)[values.length >> 1] ?? 0;
}
