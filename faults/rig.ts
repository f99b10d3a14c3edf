import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALL_SCOPES } from '../src/auth/scopes';
import { openStore, type Store } from '../src/cli/common/open';
import { readConfig } from '../src/config';
import { ROOT } from '../tools/facts';
import { ending, onEnd } from './cleanup';
import { Tally } from './client';
import { type FaultDatabase, startDatabase } from './database';
import { type Gateway, startGateway } from './gateway';
import { runToEnd } from './processes';
import { type OwnRedis, redisVersion, startRedis } from './redis';

const PROGRAM = join(ROOT, 'dist', 'main.js');
const CONTROL_DATABASE = 'scopegate_faults';
/** Effectively no limit. */
const NO_LIMIT = '1000000000';
/** More than the idle connections plus those of other clients. */
const MAX_CONNECTIONS = '20000';

/** An organisation and a key with all scopes. */
export interface Tenant {
  readonly organisationId: string;
  readonly key: string;
}

/** The system under test: a database, Redis, and gateways on demand. */
export interface Rig {
  readonly database: FaultDatabase;
  readonly redis: OwnRedis;
  readonly redisVersion: string;
  /** The variables of its gateways. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Runs the command line with --json. @throws if it fails */
  scopegate<T>(args: readonly string[], own?: Readonly<Record<string, string>>): Promise<T>;
  /** The product's data access to the same database, in this process. */
  readonly store: Store;
  /** Two gateways that share the database and Redis: the running ones if their environment is the same, else new ones. */
  gateways(environment?: Readonly<Record<string, string>>): Promise<[Gateway, Gateway]>;
  /** Another gateway, which the case must end. */
  oneGateway(name: string, environment: Readonly<Record<string, string>>): Promise<Gateway>;
  /** The current gateways. */
  running(): readonly Gateway[];
  endGateways(): Promise<void>;
  /** Errors that the gateways logged for 500 answers, counted. */
  internalErrors(): Promise<Tally>;
  /** Creates an organisation, the first one through the command line as an operator would. */
  newTenant(name: string): Promise<Tenant>;
  /** Creates another key of an organisation, in this process. */
  newKey(organisationId: string): Promise<{ id: string; key: string }>;
  close(): Promise<void>;
}

/** Starts a database and Redis. Logs, and data unless `dataPlace` is given, go to a folder that is removed at the end. */
export async function openRig(dataPlace?: string): Promise<Rig> {
  const place = await temporaryFolder();
  const dataDir = dataPlace ?? join(place, 'data');
  await mkdir(dataDir, { recursive: true });
  const database = await startDatabase(dataDir, join(ROOT, '.cache'));
  const redis = await startRedis(join(place, 'redis.log'));
  const environment = {
    ...process.env,
    MONGODB_URI: database.uri,
    CONTROL_DATABASE,
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
    INSTANCES: '2',
    RATE_LIMIT_PER_MINUTE: NO_LIMIT,
    MAX_CONNECTIONS,
  };
  const store = await openStore(readConfig(environment), () => undefined);
  const closeStore = onEnd('the connection to the database', () => store.close());
  let running: [Gateway, Gateway] | undefined;
  let startedWith = '';
  let isFirstTenant = true;

  async function scopegate<T>(args: readonly string[], own: Readonly<Record<string, string>> = {}): Promise<T> {
    const said = await runToEnd(process.execPath, [PROGRAM, ...args, '--json'], { ...environment, ...own });
    return JSON.parse(said) as T;
  }

  const logOf = (name: string): string => join(place, `gateway-${name}.log`);

  async function endGateways(): Promise<void> {
    await Promise.all((running ?? []).map((gateway) => gateway.end('SIGKILL')));
    running = undefined;
  }

  async function newKey(organisationId: string): Promise<{ id: string; key: string }> {
    const made = await store.control.apiKeys.create({
      organisationId,
      name: 'fault',
      scopes: ALL_SCOPES,
      createdBy: 'faults',
      expiresAt: null,
    });
    if (!made) throw new Error(`organisation ${organisationId} not found`);
    return { id: made.document._id, key: made.key };
  }

  return {
    environment,
    scopegate,
    database,
    redis,
    redisVersion: await redisVersion(),
    store,
    endGateways,
    running: () => running ?? [],
    async gateways(own = {}) {
      const wanted = JSON.stringify(own);
      if (running?.every((gateway) => gateway.isAlive()) && wanted === startedWith) return running;
      await endGateways();
      const env = { ...environment, REDIS_URL: redis.url, ...own };
      const start = (name: string): Promise<Gateway> =>
        startGateway({ name, program: PROGRAM, env, logFile: logOf(name) });
      running = await Promise.all([start('a'), start('b')]);
      startedWith = wanted;
      return running;
    },
    oneGateway: (name, own) =>
      startGateway({
        name,
        program: PROGRAM,
        env: { ...environment, REDIS_URL: redis.url, ...own },
        logFile: logOf(name),
      }),
    async internalErrors() {
      const tally = new Tally();
      for (const name of ['a', 'b']) {
        const lines = (await readFile(logOf(name), 'utf8')).split('\n');
        for (const line of lines.filter((one) => one.includes('"code":"internal"'))) {
          const { error } = JSON.parse(line) as { error?: { type: string; message: string } };
          tally.add(`${error?.type ?? 'unknown'}: ${error?.message ?? line}`);
        }
      }
      return tally;
    },
    newKey,
    async newTenant(name) {
      if (!isFirstTenant) {
        const { id } = await store.control.organisations.create({ name, plan: 'integrations', currency: 'USD' });
        return { organisationId: id, key: (await newKey(id)).key };
      }
      isFirstTenant = false;
      const { id } = await scopegate<{ id: string }>(['org', 'create', '--name', name]);
      const { key } = await scopegate<{ key: string }>([
        ...['key', 'create', '--org', id, '--name', name],
        ...['--scopes', 'all'],
      ]);
      return { organisationId: id, key };
    },
    async close() {
      await endGateways();
      await closeStore();
      await database.stop();
    },
  };
}

/** Creates a temporary folder that is removed at the end. */
export async function temporaryFolder(): Promise<string> {
  ending.throwIfAborted();
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-faults-'));
  // FAULTS_KEEP keeps the logs for debugging
  if (!process.env.FAULTS_KEEP) onEnd(folder, () => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  else process.stderr.write(`logs kept in ${folder}\n`);
  return folder;
}
