import { post, watch, watchedGateway } from '../../support/watchdog';

/* Members of large rows that a query names under many aliases. */

const gateway = watchedGateway();
const AT_ONCE = 6;
/** Of its own rows, 100 to a customer. */
const CONTACTS = 100;

beforeAll(async () => {
  const contacts = Array(CONTACTS).fill({ name: 'é'.repeat(200), role: 'é'.repeat(100), phone: '0'.repeat(50) });
  for (const from of [0, 25, 50, 75]) {
    const customers = Array.from({ length: 25 }, (_, at) => ({ external_ref: String(from + at), name: 'A', contacts }));
    const { status, text } = await post(gateway, '/api/v1/customers/bulk', { customers });
    expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ created: 25 })]);
  }
});

const aliases = (field: string): string => Array.from({ length: 30 }, (_, at) => `a${String(at)}: ${field}`).join(' ');

test.each<[string, string, number]>([
  ['entity tags', `{ customers(limit: 100) { data { ${aliases('etag')} } } }`, 30 * 100],
  [
    'names of types',
    `{ customers(limit: 100) { data { contacts { ${aliases('__typename')} } } } }`,
    30 * 100 * CONTACTS,
  ],
])('30 aliases of %s of 100 customers with 100 contacts hold up nobody', async (name, query, values) => {
  const answers: string[] = [];
  await watch(gateway, `30 aliases of ${name}`, async () => {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => answers.push((await post(gateway, '/graphql', { query })).text)),
    );
  });
  for (const text of answers) expect(text.match(/"a\d+":"/g)).toHaveLength(values);
});
