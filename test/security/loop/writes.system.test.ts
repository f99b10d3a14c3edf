import { randomUUID } from 'node:crypto';
import { TOKENS } from '../../admin/operator/operator';
import { LINE, put, QUOTE } from '../../admin/operator/writing';
import type { Json } from '../../support/client';
import { post, watch, watchedGateway } from '../../support/watchdog';

/* The dearest writes of operators, and metadata of all who write: as much as a call takes, and what is more than it may have. */

const gateway = watchedGateway(TOKENS);
const authorization = `Bearer ${TOKENS.OPERATOR_TOKENS.split('=')[1]!}`;

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const write = (writes: readonly unknown[], options: Json = {}) =>
  post(gateway, `/operator/v1/organisations/${gateway.organisation}/writes`, JSON.stringify({ writes, ...options }), {
    authorization,
  });
const stream = (lines: readonly string[]) =>
  post(gateway, '/operator/v1/writes', lines.join('\n'), { authorization, 'content-type': 'application/x-ndjson' });
const bulk = (products: readonly Json[]) => post(gateway, '/api/v1/products/bulk', { products });
const UPSERT = 'mutation($p: [ProductUpsert!]!) { upsert_products(products: $p) { created updated unchanged failed } }';
const graphql = (products: readonly Json[]) => post(gateway, '/graphql', { query: UPSERT, variables: { p: products } });
const lineOf = (element: Json, organisation = gateway.organisation): string =>
  JSON.stringify({ organisation, ...element });

/** A long text of few words, since each is a row of an index. */
const text = (length: number, seed: number): string =>
  `${String(seed)} lorem ipsum `.repeat(length / 14).slice(0, length);
const product = (at: number, more: Json = {}) => put('product', { sku: `S-${String(at)}`, name: 'N', ...more });
const deep = (levels: number): Json => (levels === 0 ? 1 : { a: deep(levels - 1) });
const threads = [put('request', { external_ref: 't', subject: 'S' })];
const pairs = (count: number, value: unknown = 'v', key = 'k'): Json =>
  Object.fromEntries(many(count, (at) => [`${key}${String(at)}`, value]));
const asList = (metadata: Json): Json[] => Object.entries(metadata as object).map(([key, value]) => ({ key, value }));
const withMetadata = (at: number, metadata: unknown): Json => ({ sku: `M-${String(at)}`, name: 'N', metadata });
const FULL = pairs(50);
const message = (at: number, body: string) =>
  put('message', { external_ref: `m-${String(at)}`, request_ref: 't', author: 'customer', body });

beforeAll(async () => {
  // loading and compiling at first are not measured
  await write([put('quote', { ...QUOTE, external_ref: 'q' }), ...threads, message(0, 'x')]);
  await stream([lineOf(put('product', { sku: 'warm', name: 'N' }))]);
  await bulk([withMetadata(-1, FULL)]);
  await graphql([withMetadata(-2, asList(FULL))]);
});

/** What only would be stored. */
const DRY = 'in a dry run';

// `unchanged` where the watchdog runs one again
test.each<[string, RegExp, () => readonly unknown[]]>([
  [
    '1,000 new products of long texts',
    /"(created|unchanged)":1000/,
    () => many(1000, (at) => product(at, { description: text(4500, at) })),
  ],
  [
    '1,000 products changed',
    /"(updated|unchanged)":1000/,
    () => many(1000, (at) => product(at, { description: text(4500, at + 1) })),
  ],
  [
    `1,000 changes ${DRY}`,
    /"(updated|unchanged)":1000/,
    () => many(1000, (at) => product(at, { description: text(4500, at) })),
  ],
  [
    '1,000 messages of one thread',
    /"(created|unchanged)":1000/,
    () => many(1000, (at) => message(at + 1, text(4500, at))),
  ],
  [
    '1,000 changes of one product',
    /"(updated|unchanged)":1000/,
    () => many(1000, (at) => product(0, { lead_time_days: at + 1 })),
  ],
  [
    '20 quotes of 1,000 lines',
    /"(created|unchanged)":20/,
    () =>
      many(20, (at) =>
        put('quote', {
          ...QUOTE,
          number: `L-${String(at)}`,
          lines: many(1000, (n) => ({ ...LINE, description: `x${String(n)}` })),
        }),
      ),
  ],
  [
    'the same with the lines in another order',
    /"(updated|unchanged)":20/,
    () =>
      many(20, (at) =>
        put('quote', {
          ...QUOTE,
          number: `L-${String(at)}`,
          lines: many(1000, (n) => ({ ...LINE, description: `x${String(999 - n)}` })),
        }),
      ),
  ],
  ['1,000 elements of deep members', /"failed":1000/, () => many(1000, (at) => product(at, { x: deep(50) }))],
  ['one element of 200,000 values', /"code":"size"/, () => [product(1, { x: many(200_000, () => 1) })]],
  [
    '1,000 elements of 90 unknown members',
    /"failed":1000/,
    () =>
      many(1000, (at) =>
        put('product', { sku: String(at), ...Object.fromEntries(many(90, (n) => [`x${String(n)}`, 1])) }),
      ),
  ],
  [
    '1,000 keys of marks',
    /"failed":1000/,
    () => many(1000, () => product(1, { external_ref: `a${'\u0301'.repeat(1000)}${'\u0327'.repeat(1000)}` })),
  ],
])('a call of %s', async (name, said, make) => {
  const writes = make();
  await watch(gateway, `writes: ${name}`, async () => {
    const { status, text } = await write(writes, { dry_run: name.endsWith(DRY) });
    expect([status, text.slice(0, 300)]).toEqual([200, expect.stringMatching(said)]);
  });
});

test.each<[string, () => readonly string[]]>([
  [
    // a slow database would not store 10,000 in the time that a body may take
    '2,000 lines of one organisation',
    () => many(2_000, (at) => lineOf(product(at % 1000, { lead_time_days: at % 3 }))),
  ],
  ['10,000 lines of unknown organisations', () => many(10_000, (at) => lineOf(product(at), randomUUID()))],
  ['lines of 16 MiB', () => many(190, (at) => lineOf(product(at, { x: text(80_000, at) })))],
  ['10,000 lines that are no JSON', () => many(10_000, () => '{"a":')],
  ['three lines of 5 MiB', () => many(3, () => lineOf(product(1, { x: many(2_400_000, () => 1) })))],
])('a stream of %s', async (name, make) => {
  const lines = make();
  await watch(gateway, `writes: ${name}`, async () => {
    const { status, text } = await stream(lines);
    expect([status, text.trimEnd().split('\n').length]).toEqual([200, lines.length]);
  });
});

// `unchanged` where the watchdog runs one again
test.each<[string, RegExp, () => Promise<{ readonly status: number; readonly text: string }>]>([
  ['1,000 elements of 50 pairs', /"(created|unchanged)":1000/, () => bulk(many(1000, (at) => withMetadata(at, FULL)))],
  ['the same changed', /"(updated|unchanged)":1000/, () => bulk(many(1000, (at) => withMetadata(at, pairs(50, 'w'))))],
  [
    '1,000 merges that would have too many',
    /"failed":1000/,
    () => bulk(many(1000, (at) => withMetadata(at, pairs(50, 'w', 'l')))),
  ],
  [
    '300 elements of 50 pairs over GraphQL',
    /"(updated|unchanged)":300/,
    () => graphql(many(300, (at) => withMetadata(at, asList(FULL)))),
  ],
  [
    '1,000 elements of 50 broken keys',
    /"failed":1000/,
    () => bulk(many(1000, (at) => withMetadata(at, pairs(50, 'v', '$')))),
  ],
  [
    '1,000 elements of 50 values of another type',
    /"failed":1000/,
    () => bulk(many(1000, (at) => withMetadata(at, pairs(50, {})))),
  ],
  ['an element of 15,000 broken pairs', /"code":"length"/, () => bulk([withMetadata(1, pairs(15_000, 1, '$'))])],
  [
    '1,000 puts of 50 pairs by an operator',
    /"results"/,
    () => write(many(1000, (at) => put('product', withMetadata(at, FULL)))),
  ],
  [
    '1,000 patches that would have too many',
    /"failed":1000/,
    () => write(many(1000, (at) => ({ type: 'product', patch: withMetadata(at, pairs(50, 'w', 'l')) }))),
  ],
])('metadata: %s', async (name, said, send) => {
  await watch(gateway, `metadata: ${name}`, async () => {
    const got = await send();
    expect([got.status, got.text.slice(0, 300)]).toEqual([200, expect.stringMatching(said)]);
  });
});
