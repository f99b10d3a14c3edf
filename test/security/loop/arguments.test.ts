import { operator, TOKENS } from '../../admin/operator/operator';
import { cookieOf, person, sendLink } from '../../admin/settings/people';
import { late } from '../../support/gateway';
import { post, watch, watchedGateway } from '../../support/watchdog';

/* A long text in a variable, which a short document names in many places. */

const gateway = watchedGateway(TOKENS);

const TEXT = 'a'.repeat(1_000_000);
const AT_ONCE = 6;
const ID = '00000000-0000-4000-8000-000000000000';

const times = (count: number, make: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => make(at)).join(' ');
const roots = (count: number, field: string): string => times(count, (at) => `a${String(at)}: ${field}`);
const list = (count: number): string => `[${'$m '.repeat(count)}]`;

type Send = (query: string) => Promise<{ readonly status: number; readonly text: string }>;

const body = (query: string): string => JSON.stringify({ query, variables: { m: TEXT } });
const asKey: Send = (query) => post(gateway, '/graphql', body(query));
const asOperator: Send = (query) =>
  post(gateway, '/operator/graphql', body(query), {
    authorization: `Bearer ${TOKENS.OPERATOR_TOKENS.split('=')[1]!}`,
  });
const user = late(async () => {
  const link = { user: { id: 'ann', name: 'Ann' }, role: 'admin' };
  const made = await operator(gateway).post(`/organisations/${gateway.organisation}/sign-in-links`, link);
  const token = new URL(String(made.body.url)).searchParams.get('link')!;
  return person(gateway, cookieOf(await sendLink(gateway, token)));
});
const asUser: Send = (query) =>
  post(gateway, '/settings/graphql', body(query), { cookie: user.cookie, 'x-csrf-token': user.csrf });

const CONTACTS = `contacts: [${'{ name: $m role: $m email: $m phone: $m }'.repeat(100)}]`;
const NEW_KEY = `name: $m, scopes: ${list(20)}, allowed_ranges: ${list(50)}`;

test.each<[string, Send, string]>([
  ['skus of 20 lists', asKey, `query ($m: String!) { ${roots(20, `products(sku: ${list(20)}) { has_more }`)} }`],
  ['members of contacts', asKey, `mutation ($m: String!) { update_customer(id: "${ID}", ${CONTACTS}) { id } }`],
  [
    'cursors of lists in rows',
    asKey,
    `query ($m: String!) { customers { data { ${roots(30, 'quotes(cursor: $m) { has_more }')} } } }`,
  ],
  [
    'elements of a bulk call',
    asKey,
    `mutation ($m: String!) { upsert_products(products: [${'{ sku: $m }'.repeat(300)}]) { results { sku } } }`,
  ],
  [
    'ranges of new keys, by a user',
    asUser,
    `mutation ($m: String!) { ${roots(12, `create_key(${NEW_KEY}) { key }`)} }`,
  ],
  [
    'ranges of new keys, by an operator',
    asOperator,
    `mutation ($m: String!) { ${roots(12, `create_key(id: "${ID}", ${NEW_KEY}) { key }`)} }`,
  ],
])('a text of 1 MB in %s is refused before it is looked at', async (name, send, query) => {
  const answers: Awaited<ReturnType<Send>>[] = [];
  await send('{ __typename }');
  await watch(gateway, `1 MB in ${name}`, async () => {
    await Promise.all(Array.from({ length: AT_ONCE }, async () => answers.push(await send(query))));
  });
  for (const { status, text } of answers) {
    expect([status, text]).toEqual([400, expect.stringContaining('more than 1,048,576 characters')]);
  }
});
