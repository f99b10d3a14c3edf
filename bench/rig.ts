import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onEnd } from '../faults/cleanup';
import { type FaultDatabase, startDatabase } from '../faults/database';
import { freePort, startProcess } from '../faults/processes';
import { allScopes } from '../src/auth/scopes';
import type { Organisation } from '../src/auth/principal';
import { openStore, type Store } from '../src/cli/store';
import { readConfig } from '../src/config';
import type { Collection } from '../src/mongo/collection';
import { resourceOf } from '../src/resources';
import { ROOT } from '../tools/facts';
import { productsOf, quotesOf, skuOf } from './data';
import { makeKeys, PEPPER } from './keys';

const products = resourceOf('products');
const quotes = resourceOf('quotes');

const CONTROL_DATABASE = 'scopegate_bench';
/** Effectively no limit. */
export const NO_LIMIT = '1000000000';
export const OPERATOR_SECRET = 'bench-operator-token-of-thirty-two-characters';

export interface Scale {
  readonly customers: number;
  readonly lines: number;
  readonly keys: number;
  /** Sets of products, one per writing connection. */
  readonly productSets: number;
  readonly productsPerSet: number;
}

export const FULL: Scale = { customers: 100, lines: 20, keys: 10_000, productSets: 16, productsPerSet: 1000 };
export const SMOKE: Scale = { customers: 2, lines: 3, keys: 10, productSets: 2, productsPerSet: 20 };
export const QUOTES_PER_CUSTOMER = 60;
/** Number of keys the load uses by default. */
export const KEYS_IN_USE = 1000;

/** The data the load reads and writes. */
export interface Content {
  readonly organisation: Organisation;
  readonly keys: readonly string[];
  readonly quotes: readonly string[];
  readonly customers: readonly string[];
  /** The skus of each set. */
  readonly skus: readonly (readonly string[])[];
}

/** The run's database, the product's data access to it, and the contestants' environment. */
export interface Rig {
  readonly database: FaultDatabase;
  readonly store: Store;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Folder for logs. */
  readonly place: string;
}

/** Starts the database on new data, which are removed at the end. */
export async function openRig(): Promise<Rig> {
  const place = await mkdtemp(join(tmpdir(), 'scopegate-bench-'));
  onEnd(place, () => rm(place, { recursive: true, force: true, maxRetries: 5 }));
  const dataDir = join(place, 'data');
  await mkdir(dataDir);
  const database = await startDatabase(dataDir, join(ROOT, '.cache'));
  const environment = {
    ...process.env,
    NODE_ENV: 'production',
    MONGODB_URI: database.uri,
    KEY_PEPPER: PEPPER,
    CONTROL_DATABASE,
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    RATE_LIMIT_PER_MINUTE: NO_LIMIT,
    OPERATOR_TOKENS: `bench=${OPERATOR_SECRET}`,
  };
  const store = await openStore(readConfig(environment), () => undefined);
  onEnd('the connection to the database', () => store.close());
  return { database, store, environment, place };
}

/** The same, with a database that is so far away from the servers, in milliseconds each way. */
export async function delayed(rig: Rig, ms: number): Promise<Rig> {
  const uri = new URL(rig.database.uri);
  const port = String(await freePort());
  const program = [
    '--import',
    'tsx',
    join(ROOT, 'bench', 'servers', 'delay.ts'),
    port,
    uri.hostname,
    uri.port,
    String(ms),
  ];
  const logFile = join(rig.place, 'delay.log');
  await startProcess(process.execPath, program, { env: process.env, logFile, readyWhen: /^listening/ });
  uri.port = port;
  // or the driver goes to the address that the server says it has
  uri.searchParams.delete('replicaSet');
  uri.searchParams.set('directConnection', 'true');
  return { ...rig, environment: { ...rig.environment, MONGODB_URI: uri.href } };
}

/** Creates an organisation with generated quotes and products, and keys. */
export async function fill(rig: Rig, scale: Scale): Promise<Content> {
  const organisation = await rig.store.control.organisations.create({
    name: 'Bench',
    plan: 'integrations',
    currency: 'EUR',
  });
  const source = quotesOf(1, { lines: scale.lines, perCustomer: QUOTES_PER_CUSTOMER });
  const [ids, customers] = [[] as string[], new Set<string>()];
  for (let at = 0; at < scale.customers; at += 1) {
    const batch = Array.from({ length: QUOTES_PER_CUSTOMER }, () => source.next().value);
    for (const { _id, customer_id } of batch) {
      ids.push(_id);
      if (customer_id !== null) customers.add(customer_id);
    }
    await insert(rig, organisation, quotes, batch);
  }
  for (const batch of chunks(productsOf(2, scale.productSets, scale.productsPerSet), 500)) {
    await insert(rig, organisation, products, batch);
  }
  const skus = Array.from({ length: scale.productSets }, (_set, set) =>
    Array.from({ length: scale.productsPerSet }, (_sku, at) => skuOf(set, at)),
  );
  const keys = await makeKeys(rig.store, organisation, scale.keys, allScopes());
  return { organisation, keys, quotes: ids, customers: [...customers], skus };
}

/** Inserts documents as they are, in one command. */
async function insert<T extends { readonly _id: string }>(
  rig: Rig,
  organisation: Organisation,
  definition: Collection<T>,
  documents: readonly T[],
): Promise<void> {
  const data = rig.store.databases.organisationData(organisation);
  await data.prepare([definition]);
  const collection = data.collection(definition);
  await collection.insertMany(documents as unknown as Parameters<typeof collection.insertMany>[0], { ordered: false });
}

function* chunks<T>(values: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < values.length; at += size) yield values.slice(at, at + size);
}
