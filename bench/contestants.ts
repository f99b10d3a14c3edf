import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { freePort, runToEnd, type Started, startProcess } from '../faults/processes';
import { ROOT } from '../tools/facts';
import type { Target } from './load';
import { type Cores, onServerCore } from './machine';
import { restheartProgram } from './restheart';
import type { Rig } from './rig';

/** What Scopegate is compared with, in the order of the report's columns. */
export const PEERS = {
  node: {
    title: 'node:http by hand',
    about: 'with the MongoDB driver, the same checks of keys and limits, and the same bytes (R0)',
  },
  fastify: { title: 'Fastify', about: 'with the same hand-written code (R1)' },
  sofa: {
    title: 'Sofa',
    about: 'REST as in its README, on mongoose documents, with the same checks of keys and limits',
  },
  apollo: { title: 'Apollo', about: 'GraphQL as in its README, likewise' },
  parse: { title: 'Parse Server', about: 'version 9, as in its documentation, with an application key' },
  restheart: {
    title: 'RESTHeart',
    about: 'version 9 on Java, with its default configuration and a signed token, on the same collection as Scopegate',
  },
} as const;

export type PeerName = keyof typeof PEERS;

/** The servers measured: the peers, Scopegate, and what else a scenario needs. */
export type ContestantName = PeerName | 'floor' | 'scopegate' | 'limited' | 'relieved' | 'before';

interface Start {
  /** Arguments for node, relative to the project's root. */
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** How long a server may take to end, in milliseconds: longer than a drain of the gateway may take. */
const DRAIN = 30_000;

const server = (name: string): string[] => ['--import', 'tsx', join('bench', 'servers', `${name}.ts`)];

const STARTS: Readonly<Record<Exclude<ContestantName, 'restheart'>, Start>> = {
  // one call of the driver and JSON.stringify, without keys, limits or checks
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
  const { command, args, env } =
    name === 'restheart' ? restheartProgram(rig, port) : nodeProgram(name, profile, before);
  const started: Started = await startProcess(...onServerCore(cores, command, args), {
    env: { ...rig.environment, PARSE_SERVER_LOGS_FOLDER: join(rig.place, 'parse'), ...env, PORT: String(port) },
    logFile: join(rig.place, `${name}.log`),
    readyWhen: /^listening on |RESTHeart started/,
    // V8 took a minute to write the profile of a server that ran compiled GraphQL
    ...(profile === undefined ? {} : { graceMs: 180_000 }),
  });
  return { name, url: `http://127.0.0.1:${String(port)}`, pid: started.pid, stop: () => started.stop(DRAIN) };
}

interface Program extends Start {
  readonly command: string;
}

function nodeProgram(
  name: Exclude<ContestantName, 'restheart'>,
  profile: string | undefined,
  before: string | undefined,
): Program {
  const { args, env } = STARTS[name];
  const program = name === 'before' ? args.map((word) => word.replace('dist', join(before ?? '', 'dist'))) : args;
  const profiling = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${join(profile, name)}`];
  return { command: process.execPath, args: [...profiling, ...program], ...(env && { env }) };
}

/** Packages that only the comparison needs. */
const PACKAGES = join(ROOT, '.cache', 'bench-peers');
const PARSE_SERVER = 'parse-server@9.10.0';
/** No package of a later day is installed, so that the versions are always the same without a lock file. */
const BEFORE = '2026-11-22';

/** Installs them unless they are installed. */
export async function installPeers(): Promise<void> {
  if (existsSync(join(PACKAGES, 'node_modules', 'parse-server'))) return;
  const quiet = ['--no-save', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund'];
  const args = ['install', '--prefix', PACKAGES, `--before=${BEFORE}`, ...quiet, PARSE_SERVER];
  await runToEnd('npm', args, process.env);
}
