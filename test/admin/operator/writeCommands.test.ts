import type { Organisation } from '../../../src/auth/principal';
import { eventually } from '../../api/http/eventually';
import type { Client, Json } from '../../support/client';
import { startWatchedGateway } from '../../support/commands';
import { callerOf } from '../../support/factories';
import { servedBy } from '../../support/gateway';
import { TOKENS } from './operator';
import { anyKey, patch, put, QUOTE, remove, writing } from './writing';

/* How many commands a write sends to the database (docs/decisions/cost-of-writes.md): each is a round trip. */

const gateway = servedBy(() => startWatchedGateway(TOKENS));

/** Collections that a gateway writes and reads in the background. */
const BESIDE = ['request_log', 'key_usage', 'heartbeats', 'jobs', 'event_tails', 'databases'];

/** Commands by which it looks after connections, quotas and indexes. */
const BACKGROUND = ['ping', 'hello', 'dbStats', 'count', 'listIndexes', 'createIndexes', 'listShards'];

/** Whether it is a part of writing when keys were last used, which a gateway does each minute. */
const isOfUse = (name: string, collection: string, { filter }: Json): boolean =>
  (name === 'update' && collection === 'api_keys') ||
  (['api_keys', 'organisations'].includes(collection) && filter?._id?.$in !== undefined);

/** The commands sent while `work` runs, by name and collection, without what a gateway does in the background. */
async function sentBy(work: () => Promise<{ readonly status: number }>): Promise<string[]> {
  const all: { readonly text: string; readonly of: string }[] = [];
  /** Transactions in which a gateway counts the jobs that an organisation has waiting, such as to make its indexes. */
  const ofJobs = new Set<string>();
  const note = ({ commandName: name, command }: { commandName: string; command: Json }): void => {
    const collection = String(command[name]);
    const of = `${String(command.lsid?.id.toString('hex'))} ${String(command.txnNumber)}`;
    if (command.update?.$inc?.holds !== undefined) ofJobs.add(of);
    const isLooking = command.filter?.['move.to'] !== undefined || isOfUse(name, collection, command);
    const isBeside = BESIDE.includes(collection) || isLooking;
    if (name === 'commitTransaction') all.push({ text: 'commit', of });
    else if (!BACKGROUND.includes(name) && !isBeside) all.push({ text: `${name} ${collection}`, of });
  };
  const client = gateway.databases.control.getClient();
  client.on('commandStarted', note);
  try {
    expect((await work()).status).toBe(200);
  } finally {
    client.off('commandStarted', note);
  }
  // such a transaction may have begun before this listened, and only its commit was seen
  const isSeen = (of: string): boolean => all.some((other) => other.of === of && other.text !== 'commit');
  const sent = all.filter(({ of }) => !ofJobs.has(of) && isSeen(of)).map(({ text }) => text);
  // a gateway also looks at organisations while it makes their indexes; a call does so first, and only if it has no key
  const isFirst = (at: number): boolean => at === 0 && !sent.includes('find api_keys');
  return sent.filter((one, at) => one !== 'find organisations' || isFirst(at));
}

const BEGIN = ['findAndModify open_writes', 'findAndModify open_writes'];
const KEY = ['find api_keys', ...BEGIN];
const OPERATOR = ['find organisations', ...BEGIN];
const AUDITED = ['commit', 'update audit_events'];

const many = (name: string) => Array.from({ length: 1000 }, (_none, n) => ({ sku: `S-${String(n)}`, name }));

let [caller, post]: [Client, Awaited<ReturnType<typeof writing>>['post']] = [undefined!, undefined!];
let id = '';

beforeAll(async () => {
  let organisation: Organisation;
  let database: Awaited<ReturnType<typeof writing>>['database'];
  ({ post, organisation, database } = await writing(gateway));
  caller = await callerOf(gateway, organisation);
  const { body } = await caller.post('/products/bulk', { products: many('Bolt') });
  ({ id } = body.results[0]);
  // makes the collections, and again so that the many new rows have their indexes
  const first = [
    put('customer', { external_ref: 'c', name: 'Ann' }),
    put('request', { external_ref: 't', subject: 'Hello' }),
    put('message', { external_ref: 'm', request_ref: 't', author: 'customer', body: 'First' }),
    put('quote', { ...QUOTE, external_ref: 'q' }, 1),
  ];
  await post({ writes: first }, anyKey());
  await caller.patch(`/products/${id}`, { name: 'Nut' }, anyKey());
  await eventually(async () => {
    await caller.patch(`/products/${id}`, { lead_time_days: Math.floor(Math.random() * 300) });
    return (await database.collection('products').indexes()).length > 5;
  });
});

test.each<[string, () => Promise<{ readonly status: number }>, readonly string[]]>([
  [
    'a PATCH',
    () => caller.patch(`/products/${id}`, { name: 'One' }),
    [...KEY, 'find products', 'update products', 'commit'],
  ],
  [
    'a PATCH with an Idempotency-Key',
    () => caller.patch(`/products/${id}`, { name: 'Two' }, anyKey()),
    [
      ...['find api_keys', 'find idempotency_records', ...BEGIN, 'update idempotency_records'],
      ...['find products', 'update products', 'update idempotency_records', 'commit'],
    ],
  ],
  [
    'a bulk call of 1,000 changed products',
    () => caller.post('/products/bulk', { products: many('Screw') }),
    [...KEY, 'find products', 'update products', 'commit'],
  ],
  [
    'an element of an operator',
    () => post({ writes: [patch('product', { sku: 'S-1', name: 'Three' })] }),
    [...OPERATOR, 'find products', 'update products', ...AUDITED],
  ],
  [
    'an element with a version',
    () => post({ writes: [patch('product', { sku: 'S-1', name: 'Four' }, 4)] }),
    [
      ...[...OPERATOR, 'find products', 'find write_versions'],
      ...['update products', 'update write_versions', ...AUDITED],
    ],
  ],
  [
    '1,000 elements of an operator',
    () => post({ writes: many('Nail').map((one) => put('product', one)) }),
    [...OPERATOR, 'find products', 'update products', ...AUDITED],
  ],
  [
    'a quote that refers to a customer',
    () => post({ writes: [patch('quote', { external_ref: 'q', customer_ref: 'c' })] }),
    [...OPERATOR, 'find quotes', 'find customers', 'update quotes', ...AUDITED],
  ],
  [
    'a part that is named alone',
    () => post({ writes: [patch('message', { external_ref: 'm', body: 'Changed' })] }),
    [
      ...[...OPERATOR, 'find messages', 'find requests', 'update messages'],
      // the counters of its thread
      ...['aggregate messages', 'find messages', 'update requests', ...AUDITED],
    ],
  ],
])('%s sends these commands', async (_name, work, commands) => {
  expect(await sentBy(work)).toEqual(commands);
});

test('a name that several elements share is looked up once', async () => {
  const writes = Array.from({ length: 20 }, (_none, n) => patch('product', { sku: 'S-2', name: `N${String(n)}` }));
  expect(await sentBy(() => post({ writes }))).toEqual([...OPERATOR, 'find products', 'update products', ...AUDITED]);
});

test('elements see what those of earlier pieces have made of an object, in a dry run too', async () => {
  // large rows, of which a piece has fewer than the call has elements
  const long = '…'.repeat(4900);
  const large = Array.from({ length: 200 }, (_none, n) => ({ sku: `L-${String(n)}`, name: 'N', description: long }));
  await post({ writes: large.map((one) => put('product', { ...one, external_ref: one.sku })) });
  const change = (name: string) => large.slice(2).map(({ sku }) => patch('product', { sku, name }));
  await post({ writes: change('Known') });
  const writes = [
    ...[remove('product', { sku: 'L-0' }), patch('product', { external_ref: 'L-1', sku: 'MOVED' })],
    ...change('Changed'),
    ...['MOVED', 'L-1'].map((sku) => patch('product', { sku, lead_time_days: 3 })),
    put('product', { sku: 'L-0', name: 'Again' }),
  ];
  for (const dry_run of [true, false]) {
    let results: readonly Json[] = [];
    const sent = await sentBy(async () => {
      const answer = await post({ writes, dry_run });
      ({ results } = answer.body);
      return answer;
    });
    expect(sent.filter((one) => one === 'find products').length).toBeGreaterThan(1);
    const outcomes = results.map(({ outcome }) => outcome as string);
    expect(outcomes.slice(0, 2)).toEqual(['deleted', 'updated']);
    expect(outcomes.slice(-3)).toEqual(['updated', 'failed', 'created']);
  }
});
