import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { databaseName } from '../src/mongo/databaseNames';
import { ITEM, LINE, LINES_LIMIT, LIST_LIMIT } from './calls';
import { pick } from './data';
import type { NextCall } from './load';
import type { Content, Rig } from './rig';

/* RESTHeart on Scopegate's own collection of quotes, and the calls that read it. */

/** Folder of an unpacked release, which cannot be installed: Maven Central has its core, but not its plugin for MongoDB. */
const { RESTHEART_HOME, JAVA_HOME } = process.env;
const SECRET = 'bench-secret-of-at-least-thirty-two-characters';
const APP = 'bench';

export const hasRestheart = RESTHEART_HOME !== undefined;

/**
 * Its default configuration, with all databases, a key for tokens that the benchmark signs, and no log of requests.
 * @throws Error if RESTHEART_HOME has no release.
 */
export function restheartProgram({ environment }: Rig, port: number) {
  const jar = join(RESTHEART_HOME ?? '', 'restheart.jar');
  if (!existsSync(jar)) throw new Error(`RESTHEART_HOME must be the folder of an unpacked release: there is no ${jar}`);
  const overrides = [
    `/mclient/connection-string->'${environment.MONGODB_URI ?? ''}'`,
    "/http-listener/host->'127.0.0.1'",
    `/http-listener/port->${String(port)}`,
    "/mongo/mongo-mounts->[{'what':'*','where':'/'}]",
    `/jwtConfigProvider/key->'${SECRET}'`,
    '/logging/requests-log-mode->0',
    '/logging/ansi-console->false',
  ];
  const command = JAVA_HOME === undefined ? 'java' : join(JAVA_HOME, 'bin', 'java');
  return { command, args: ['-jar', jar], env: { RHO: overrides.join(';') } };
}

/** Stores the definition of its GraphQL API, as its documentation says. */
export async function fillRestheart({ database }: Rig, { organisation }: Content): Promise<void> {
  const types = (members: string, special: Readonly<Record<string, string>>, other: string): string =>
    members
      .split(' ')
      .map((name) => `${name}: ${special[name] ?? (name.endsWith('_minor') ? 'Float' : other)}`)
      .join(' ');
  const date = { sent_at: 'DateTime', decided_at: 'DateTime', created_at: 'DateTime', updated_at: 'DateTime' };
  const line = { position: 'Int', qty: 'Float', discount_pct: 'Float', vat_exempt: 'Boolean', lead_time_days: 'Int' };
  const schema = [
    `type Line { ${types(LINE, line, 'String')} }`,
    `type Quote { ${types(ITEM, date, 'String')} lines: [Line] }`,
    'type Query { quote(id: String): Quote quotes(id: String, limit: Int): [Quote] }',
  ].join(' ');
  const source = { db: databaseName(organisation.id), collection: 'quotes' };
  const mappings = {
    Quote: { id: '_id' },
    Query: {
      quote: { ...source, find: { _id: { $arg: 'id' } } },
      quotes: {
        ...source,
        find: { customer_id: { $arg: 'id' } },
        sort: { created_at: -1, _id: -1 },
        limit: { $arg: 'limit' },
      },
    },
  };
  const client = await new mongo.MongoClient(database.uri).connect();
  try {
    const descriptor = { name: APP, enabled: true, uri: APP };
    await client.db('restheart').collection('gql-apps').insertOne({ descriptor, schema, mappings });
  } finally {
    await client.close();
  }
}

export function restheart({ organisation, quotes, customers }: Content) {
  const headers = { Authorization: `Bearer ${token()}` };
  const collection = `/${databaseName(organisation.id)}/quotes`;
  const get = (path: string, parameters: Readonly<Record<string, object | number>>) => {
    const query = Object.entries(parameters).map(
      ([name, value]) => `${name}=${encodeURIComponent(JSON.stringify(value))}`,
    );
    return { method: 'GET' as const, path: `${collection}${path}?${query.join('&')}`, headers };
  };
  const post = (query: string, variables: object) => ({
    method: 'POST' as const,
    path: `/graphql/${APP}`,
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const members = `${ITEM} lines { ${LINE} }`;
  const quote: NextCall = (random) => get(`/${pick(random, quotes)}`, { keys: { search: 0 } });
  const list: NextCall = (random) =>
    get('', {
      filter: { customer_id: pick(random, customers) },
      sort: { created_at: -1, _id: -1 },
      keys: { search: 0, lines: 0 },
      pagesize: LIST_LIMIT,
    });
  const queryOne: NextCall = (random) =>
    post(`query Whole($id: String) { quote(id: $id) { ${members} } }`, { id: pick(random, quotes) });
  const queryList: NextCall = (random) =>
    post(`query List($id: String, $limit: Int) { quotes(id: $id, limit: $limit) { ${members} } }`, {
      id: pick(random, customers),
      limit: LINES_LIMIT,
    });
  return { quote, list, queryOne, queryList };
}

/** Of an administrator, valid for a day. */
function token(): string {
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const expires = Math.floor(Date.now() / 1000) + 24 * 60 * 60;
  const claims = { sub: 'bench', iss: 'restheart.org', roles: ['admin'], exp: expires };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`;
}
