import { TOKENS } from '../../admin/operator/operator';
import { put } from '../../admin/operator/writing';
import type { Json } from '../../support/client';
import { post, watch, watchedGateway } from '../../support/watchdog';

/* The dearest metadata: as many pairs as a call takes, and many more than it may have. */

const gateway = watchedGateway(TOKENS);
const authorization = `Bearer ${TOKENS.OPERATOR_TOKENS.split('=')[1]!}`;

const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const pairs = (count: number, value: unknown = 'v', key = 'k'): Json =>
  Object.fromEntries(many(count, (at) => [`${key}${String(at)}`, value]));
const asList = (metadata: Json): Json[] => Object.entries(metadata as object).map(([key, value]) => ({ key, value }));

const bulk = (products: readonly Json[]) => post(gateway, '/api/v1/products/bulk', { products });
const feed = (writes: readonly Json[]) =>
  post(gateway, `/operator/v1/organisations/${gateway.organisation}/writes`, JSON.stringify({ writes }), {
    authorization,
  });
const graphql = (products: readonly Json[]) => {
  const query =
    'mutation($p: [ProductUpsert!]!) { upsert_products(products: $p) { created updated unchanged failed } }';
  return post(gateway, '/graphql', { query, variables: { p: products } });
};

const product = (at: number, metadata: unknown): Json => ({ sku: `M-${String(at)}`, name: 'N', metadata });
const FULL = pairs(50);

beforeAll(async () => {
  // loading and compiling at first are not measured
  await bulk([product(-1, FULL)]);
  await graphql([product(-2, asList(FULL))]);
  await feed([put('product', product(-3, FULL))]);
});

test.each<[string, RegExp, () => Promise<{ readonly status: number; readonly text: string }>]>([
  ['1,000 elements of 50 pairs', /"created":1000/, () => bulk(many(1000, (at) => product(at, FULL)))],
  ['the same changed', /"updated":1000/, () => bulk(many(1000, (at) => product(at, pairs(50, 'w'))))],
  [
    '1,000 merges that would have too many',
    /"failed":1000/,
    () => bulk(many(1000, (at) => product(at, pairs(50, 'w', 'l')))),
  ],
  [
    '300 elements of 50 pairs over GraphQL',
    /"updated":300/,
    () => graphql(many(300, (at) => product(at, asList(FULL)))),
  ],
  [
    '1,000 elements of 50 broken keys',
    /"failed":1000/,
    () => bulk(many(1000, (at) => product(at, pairs(50, 'v', '$')))),
  ],
  [
    '1,000 elements of 50 values of another type',
    /"failed":1000/,
    () => bulk(many(1000, (at) => product(at, pairs(50, {})))),
  ],
  ['an element of 15,000 broken pairs', /"code":"length"/, () => bulk([product(1, pairs(15_000, 1, '$'))])],
  [
    '1,000 puts of 50 pairs by an operator',
    /"results"/,
    () => feed(many(1000, (at) => put('product', product(at, FULL)))),
  ],
  [
    '1,000 patches that would have too many',
    /"failed":1000/,
    () => feed(many(1000, (at) => ({ type: 'product', patch: product(at, pairs(50, 'w', 'l')) }))),
  ],
])('%s', async (name, said, send) => {
  await watch(gateway, `metadata: ${name}`, async () => {
    const got = await send();
    expect([got.status, got.text.slice(0, 300)]).toEqual([200, expect.stringMatching(said)]);
  });
});
