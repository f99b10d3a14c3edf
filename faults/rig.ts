import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allScopes } from '../src/auth/scopes';
import { openStore } from '../src/cli/store';
import { readConfig } from '../src/config';
import { ROOT } from '../tools/facts';
import { ending, onEnd } from './cleanup';
import { Tally } from './client';
import { startDatabase } from './database';
import { type Gateway, startGateway } from './gateway';
import { runToEnd } from './processes';

const PROGRAM = join(ROOT, 'dist', 'main.js');
const CONTROL_DATABASE = 'scopegate_faults';
/** Effectively no limit. */
const NO_LIMIT = '1000000000';

/** An organisation and a key with all scopes. */
export interface Tenant {
  readonly organisationId: string;
  readonly key: string;
}

/**
 * Starts the system under test: a database, and gateways on demand. Logs, and data unless `dataPlace` is given, go to a folder that
 * is removed at the end.
 */
export async function openRig(dataPlace?: string) {
  const place = await temporaryFolder();
  const dataDir = dataPlace ?? join(place, 'data');
  await mkdir(dataDir, { recursive: true });
  const database = await startDatabase(dataDir, join(ROOT, '.cache'));
  const environment = {
    ...process.env,
    MONGODB_URI: database.uri,
    CONTROL_DATABASE,
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
    INSTANCES: '2',
    RATE_LIMIT_PER_MINUTE: NO_LIMIT,
  };
  const store = await openStore(readConfig(environment), () => undefined);
  const closeStore = onEnd('the connection to the database', () => store.close());
  let running: [Gateway, Gateway] | undefined;
  let startedWith = '';
  let isFirstTenant = true;

  /** Runs the command line with --json. @throws if it fails */
  async function scopegate<T>(args: readonly string[]): Promise<T> {
    const said = await runToEnd(process.execPath, [PROGRAM, ...args, '--json'], environment);
    return JSON.parse(said) as T;
  }

  const logOf = (name: string): string => join(place, `gateway-${name}.log`);

  async function endGateways(): Promise<void> {
    await Promise.all((running ?? []).map((gateway) => gateway.end('SIGKILL')));
    running = undefined;
  }

  /** Creates another key of an organisation, in this process. */
  async function newKey(organisationId: string): Promise<{ id: string; key: string }> {
    const createdKey = await store.control.apiKeys.create({
      organisationId,
      name: 'fault',
      scopes: allScopes(),
      created_by: 'faults',
      expires_at: null,
    });
    if (!createdKey) throw new Error(`organisation ${organisationId} not found`);
    return { id: createdKey.document._id, key: createdKey.key };
  }

  return {
    database,
    /** The product's data access to the same database, in this process. */
    store,
    running: (): readonly Gateway[] => running ?? [],
    /** Two gateways that share the database: the running ones if their environment is the same, else new ones. */
    async gateways(own: Readonly<Record<string, string>> = {}): Promise<[Gateway, Gateway]> {
      const wanted = JSON.stringify(own);
      if (running?.every((gateway) => gateway.isAlive()) && wanted === startedWith) return running;
      await endGateways();
      const env = { ...environment, ...own };
      const start = (name: string): Promise<Gateway> =>
        startGateway({ name, program: PROGRAM, env, logFile: logOf(name) });
      running = await Promise.all([start('a'), start('b')]);
      startedWith = wanted;
      return running;
    },
    /** Another gateway, which the case must end. */
    oneGateway: (name: string, own: Readonly<Record<string, string>>) =>
      startGateway({ name, program: PROGRAM, env: { ...environment, ...own }, logFile: logOf(name) }),
    /** Errors that the gateways logged for 500 answers, counted. */
    async internalErrors() {
      const tally = new Tally();
      for (const name of ['a', 'b']) {
        const lines = (await readFile(logOf(name), 'utf8')).split('\n');
        for (const line of lines.filter((text) => text.includes('"code":"internal"'))) {
          const { error } = JSON.parse(line) as { error?: { type: string; message: string } };
          tally.add(`${error?.type ?? 'unknown'}: ${error?.message ?? line}`);
        }
      }
      return tally;
    },
    /** Creates an organisation, the first one through the command line as an operator would. */
    async newTenant(name: string): Promise<Tenant> {
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

export type Rig = Awaited<ReturnType<typeof openRig>>;

/** Creates a temporary folder that is removed at the end. */
export async function temporaryFolder(): Promise<string> {
  ending.throwIfAborted();
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-faults-'));
  // FAULTS_KEEP keeps the logs for debugging
  if (!process.env.FAULTS_KEEP) onEnd(folder, () => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
  else process.stderr.write(`logs kept in ${folder}\n`);
  return folder;
}
