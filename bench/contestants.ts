import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, runToEnd, type Started, startProcess } from '../faults/processes';
import { ROOT } from '../tools/facts';
import type { Target } from './load';
import { type Cores, onServerCore } from './machine';
import type { Rig } from './rig';

/** The servers measured, with their titles in the report. */
export const CONTESTANTS = {
  floor:
    'Floor: node:http, one call of the driver and JSON.stringify; no key, no limits, no checks, not the same answer',
  node: 'R0: node:http and the MongoDB driver',
  fastify: 'R1: Fastify 5 and the MongoDB driver',
  sofa: 'R2: Sofa as in its README, mongoose documents',
  apollo: 'R2: Apollo as in its README, mongoose documents',
  parse: 'Parse Server 9',
  scopegate: 'Scopegate',
  limited: 'Scopegate, with every key over its limit',
  relieved: 'Scopegate, while another gateway records the events',
  before: 'Scopegate, another checkout',
} as const;

export type ContestantName = keyof typeof CONTESTANTS;

interface Start {
  /** Arguments for node, relative to the project's root. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** How long a server may take to end, in milliseconds: longer than a drain of the gateway may take. */
const DRAIN = 30_000;

const server = (name: string): string[] => ['--import', 'tsx', join('bench', 'servers', `${name}.ts`)];

const STARTS: Readonly<Record<ContestantName, Start>> = {
  floor: { args: server('floor') },
  node: { args: server('node') },
  fastify: { args: server('fastify') },
  sofa: { args: server('libraries'), env: { FACE: 'rest' } },
  apollo: { args: server('libraries'), env: { FACE: 'graphql' } },
  parse: { args: server('parseServer') },
  scopegate: { args: [join('dist', 'main.js'), 'serve'] },
  before: { args: ['dist/main.js', 'serve'] },
  // one gateway at a time records the events of a database: the one that is measured, not another that happens to run
  limited: { args: [join('dist', 'main.js'), 'serve'], env: { RATE_LIMIT_PER_MINUTE: '1', EVENTS: 'off' } },
  relieved: { args: [join('dist', 'main.js'), 'serve'], env: { EVENTS: 'off' } },
};

export interface Contestant extends Target {
  readonly name: ContestantName;
  stop(): Promise<void>;
}

export interface StartOptions {
  readonly cores: Cores | undefined;
  /** Folder for CPU profiles. */
  readonly profile: string | undefined;
  /** Folder of the checkout measured as `before`. */
  readonly before: string | undefined;
}

/** Starts a contestant's server on the server core; resolves when it is listening. */
export async function start(
  name: ContestantName,
  rig: Rig,
  { cores, profile, before }: StartOptions,
): Promise<Contestant> {
  const port = await freePort();
  const { args, env } = STARTS[name];
  const program = name === 'before' ? args.map((word) => word.replace('dist', join(before ?? '', 'dist'))) : args;
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profile, name)}`];
  const started: Started = await startProcess(...onServerCore(cores, process.execPath, [...profiling, ...program]), {
    env: { ...rig.environment, PARSE_SERVER_LOGS_FOLDER: join(rig.place, 'parse'), ...env, PORT: String(port) },
    logFile: join(rig.place, `${name}.log`),
    readyWhen: /^listening on /,
    // V8 took a minute to write the profile of a server that ran compiled GraphQL
    ...(profile === undefined ? {} : { graceMs: 180_000 }),
  });
  return { name, url: `http://127.0.0.1:${String(port)}`, pid: started.pid, stop: () => started.stop(DRAIN) };
}

/** Packages that only the comparison needs. */
const PEERS = join(ROOT, '.cache', 'bench-peers');
const PARSE_SERVER = 'parse-server@9.10.0';
/** No package of a later day is installed, so that the versions are always the same without a lock file. */
const BEFORE = '2026-11-22';

/** Installs them unless they are installed. */
export async function installPeers(): Promise<void> {
  if (existsSync(join(PEERS, 'node_modules', 'parse-server'))) return;
  const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  const args = ['install', '--prefix', PEERS, `--before=${BEFORE}`, ...quiet, PARSE_SERVER];
  await runToEnd('npm', args, process.env);
}
