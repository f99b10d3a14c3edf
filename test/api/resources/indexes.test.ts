import { randomUUID } from 'node:crypto';
import { openWrites } from '../../../src/tenant/slots';
import { published } from '../../../src/schema/model';
import type { Client, Json } from '../../support/client';
import { commandsOf, startWatchedGateway } from '../../support/commands';
import { sortsByPrefix } from '../../support/differences';
import { type Arguments, ask, askPages, REST } from '../../support/faces';
import { callerOf, makeStored } from '../../support/factories';
import { grow } from '../../support/grown';
import { late, servedBy } from '../../support/gateway';
import { fewer, type ListName, RESOURCES, sortsOf, variedNorthwind } from '../../support/resources';
import { threadRecord } from '../../support/threads';

/*
 * Records the commands that the gateway sends and has the database explain them, so that the real queries are checked.
 */

const records = fewer(variedNorthwind());
const thread = threadRecord(Array.from({ length: 90 }, (_none, at) => `Message ${String(at)}`));
/**
 * Whether the server plans queries like MongoDB. SecantusDB's Python server, the fallback for tests, explains queries
 * without their limit, sorts after an equality match, and uses no index for $or and $elemMatch; with it, only first pages
 * are checked, and only for the use of an index.
 */
let plansFully: boolean;

const gateway = servedBy(startWatchedGateway);
const organisation = late(async () => {
  const made = await makeStored(gateway, { ...records, requests: [...records.requests, thread] });
  await grow(gateway.databases.organisationData(made).database);
  return made;
});
const caller = late(() => callerOf(gateway, organisation));
beforeAll(async () => {
  const { executionStats } = await explain({ find: 'quotes', sort: { _id: 1 }, limit: 1 });
  plansFully = executionStats.totalDocsExamined === 1;
});

async function explain(command: Json): Promise<Json> {
  const { database } = gateway.databases.organisationData(organisation);
  return database.command({ explain: command, verbosity: 'executionStats' });
}

const OF_A_QUERY = ['find', 'filter', 'sort', 'limit', 'projection'];

/** The queries that a call sends to the database, without session fields. */
async function findsOf(operation: string, args: Arguments, by: Client = caller): Promise<Json[]> {
  const sent = await commandsOf(gateway, organisation, () => ask(REST, by, operation, args));
  return (
    sent
      // open writes are a handful of rows, which are all read
      .filter(({ name, command }) => name === 'find' && command.find !== openWrites.name)
      .map(({ command }) =>
        Object.fromEntries(OF_A_QUERY.filter((key) => key in command).map((key) => [key, command[key]])),
      )
  );
}

/** The stages of a plan, outermost first; mongos has the plans of its shards in `shards`. */
function stagesOf(plan: Json): string[] {
  const ofShards = ((plan.shards ?? []) as Json[]).map(({ winningPlan }) => winningPlan);
  const inner = [plan.queryPlan, plan.inputStage, ...(plan.inputStages ?? []), ...ofShards].filter(Boolean);
  return [plan.stage, ...inner.flatMap(stagesOf)].filter(Boolean);
}

interface Expected {
  readonly examined?: number;
  /** Whether results may be sorted in memory. */
  readonly maySort?: boolean;
  /** The caller; by default one with a key for everything. */
  readonly by?: Client;
}

/** Expects all queries of a call to use an index. */
async function expectIndexed(operation: string, args: Arguments, expected: Expected = {}): Promise<void> {
  const { examined = Infinity, maySort = false, by } = expected;
  const commands = await findsOf(operation, args, by);
  expect(commands.length).toBeGreaterThan(0);
  for (const command of commands) {
    const { queryPlanner, executionStats } = await explain(command);
    const stages = stagesOf(queryPlanner.winningPlan);
    expect(stages).toContainEqual(expect.stringMatching(/IXSCAN|IDHACK|EXPRESS/));
    expect(stages).not.toContain('COLLSCAN');
    if (!plansFully) continue;
    if (!maySort) expect(stages).not.toContain('SORT');
    expect(executionStats.totalDocsExamined).toBeLessThanOrEqual(examined);
  }
}

test('the plans behind mongos are looked into', () => {
  const plan = { stage: 'SINGLE_SHARD', shards: [{ shardName: 's1', winningPlan: { stage: 'COLLSCAN' } }] };
  expect(stagesOf(plan)).toEqual(['SINGLE_SHARD', 'COLLSCAN']);
});

const LIMIT = 10;

/** The arguments of a list's first page, a deep one and the last; cursors work with any page size. */
async function pagesOf(operation: string, args: Arguments): Promise<Arguments[]> {
  const all = await askPages(REST, caller, operation, {
    ...args,
    limit: operation === 'quotes' || operation === 'orders' ? 100 : 25,
  });
  const cursors = all.slice(0, -1).map((page) => page.next_cursor);
  const behind = new Set([cursors[Math.floor(cursors.length / 2)], cursors.at(-1)]);
  if (!plansFully) behind.clear();
  return [{}, ...[...behind].filter(Boolean).map((cursor) => ({ cursor }))].map((page) => ({
    ...args,
    ...page,
    limit: LIMIT,
  }));
}

/** The maximum number of rows examined for a page: its own, the next one, and those with the cursor's value. */
function mostOf(list: ListName, sort = '-created_at'): number {
  const shared = new Map<unknown, number>();
  for (const record of records[list]) {
    const value = record[sort.replace('-', '')];
    shared.set(value, (shared.get(value) ?? 0) + 1);
  }
  return LIMIT + 1 + Math.max(...shared.values());
}

const SORTS = RESOURCES.flatMap((resource) => sortsOf(resource).map((sort) => [resource.list, sort] as const));

test.each(SORTS)('%s sorted by %s are read in index order, at any depth', async (list, sort) => {
  // quotes have one index for this and their totals
  if (list === 'quotes' && sort.endsWith('created_at') && !(await sortsByPrefix(gateway.databases.control.getClient())))
    return;
  const [first, ...deep] = await pagesOf(list, { sort });
  await expectIndexed(list, first!, { examined: LIMIT + 1 });
  for (const args of deep) await expectIndexed(list, args, { examined: mostOf(list, sort) });
});

test.each<[ListName, Arguments]>([
  ['products', { category: 'Beverages' }],
  ['products', { active: true }],
  ['products', { active: false }],
  ['quotes', { status: ['accepted'] }],
  ['quotes', { status: ['draft'] }],
  ['quotes', { customer_id: records.quotes[0]!.customer_id }],
  ['orders', { status: ['placed'] }],
  ['orders', { customer_id: records.quotes[0]!.customer_id }],
  ['requests', { status: ['closed'] }],
  ['requests', { customer_id: records.requests[1]!.customer_id }],
])('%s with %j are read in index order, at any depth', async (list, filter) => {
  const [first, ...deep] = await pagesOf(list, filter);
  await expectIndexed(list, first!, { examined: LIMIT + 1 });
  for (const args of deep) await expectIndexed(list, args, { examined: mostOf(list) });
});

test.each<[string, Arguments]>([
  ['products', { sku: ['NW-017'] }],
  ['quotes', { number: 'Q-10248' }],
  ['orders', { number: 'SO-10248' }],
  ['customers', { external_ref: 'ALFKI' }],
])('%s with %j, at most one row, are found by index', async (list, filter) => {
  await expectIndexed(list, { ...filter, limit: LIMIT }, { examined: 1, maySort: true });
});

test('a key restricted to 100 customers reads lists by the index of their ids, and of no other rows', async () => {
  const customerIds = [records.customers[1]!.id, ...Array.from({ length: 99 }, () => randomUUID())].sort();
  const by = await callerOf(gateway, organisation, { customerIds });
  for (const list of ['quotes', 'orders', 'requests'] as const) {
    const own = records[list].filter(({ customer_id: id }) => id === customerIds.find((one) => one === id));
    // MongoDB merges the ids' scans in the order of the list (docs/decisions/restricted-keys.md); other servers sort what they find
    await expectIndexed(list, { limit: LIMIT }, { by, examined: own.length, maySort: true });
  }
  await expectIndexed('customers', { limit: LIMIT }, { by, examined: 1, maySort: true });
});

test('products with one of several skus are found by index', async () => {
  await expectIndexed(
    'products',
    { sku: ['NW-001', 'NW-017', 'NW-999'], limit: LIMIT },
    { examined: 2, maySort: true },
  );
});

test("a thread's messages are read in index order, at any depth", async () => {
  const [first, deep] = await pagesOf('request_messages', { id: thread.id });
  await expectIndexed('request_messages', first!, { examined: LIMIT + 1 });
  if (deep) await expectIndexed('request_messages', deep, { examined: LIMIT + 2 });
});

test.each(RESOURCES)('one of $list is found by id', async ({ list, one }) => {
  await expectIndexed(one, { id: records[list][0]!.id }, { examined: 1 });
});

test.each<[ListName, string]>([
  ...RESOURCES.flatMap(({ list }) =>
    ['updated_since', 'updated_before']
      .filter((bound) => published.filtersOf(list).some(({ argument }) => argument === bound))
      .map((bound): [ListName, string] => [list, bound]),
  ),
  ['quotes', 'created_since'],
  ['quotes', 'created_before'],
  ['orders', 'placed_since'],
  ['orders', 'placed_before'],
])('a range of %s by %s uses an index', async (list, bound) => {
  await expectIndexed(list, { [bound]: '1998-01-05T00:00:00Z', limit: LIMIT }, { maySort: true });
});

test('customers with an email address are found by its words', async () => {
  if (plansFully) await expectIndexed('customers', { email: 'buyer@example.com' }, { maySort: true, examined: 0 });
});

const FEW: Partial<Record<string, string>> = {
  products: 'queso',
  customers: 'alfreds',
  quotes: '1034',
  orders: '1034',
  requests: 'ernst',
};

test.each(RESOURCES)(
  'a search of $list uses the index of words and examines few rows for few matches',
  async ({ list }) => {
    const { database } = gateway.databases.organisationData(organisation);
    const keys = (await database.collection(list).indexes()).map(({ key }) => key);
    expect(keys).toContainEqual({ search: 1 });
    if (!plansFully) return;
    await expectIndexed(list, { q: 'a b', limit: LIMIT }, { maySort: true });
    await expectIndexed(
      list,
      { q: FEW[list] ?? String(records[list][0]!.number ?? records[list][0]!.name), limit: LIMIT },
      { examined: 2 * LIMIT, maySort: true },
    );
  },
);

test.each([
  ['quotes', 'Q-10248'],
  ['orders', 'SO-10248'],
] as const)('a search of %s for %s examines few rows, although all have one of its words', async (list, q) => {
  if (!plansFully) return;
  await expectIndexed(list, { q, limit: LIMIT }, { examined: 2 * LIMIT, maySort: true });
});
