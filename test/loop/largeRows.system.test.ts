import { randomBytes } from 'node:crypto';
import { post, watch, watchedGateway } from '../support/watchdog';

/* Short calls about large rows, on a heap on which the rows of a few of them would not fit. */

/** Rows of about 100 kB, by contacts of the maximum length whose words all differ. */
const ROWS = 175;
const PER_CALL = 25;
/** The heap of the gateway, in MiB; Node takes 512 in a container of 1 GiB. */
const HEAP = 160;
/** Memory that connections to the database keep, in MiB: the last answer of each, and as much again for the next. */
const KEPT = 256;

const gateway = watchedGateway({ NODE_OPTIONS: `--max-old-space-size=${String(HEAP)}` });

const text = (length: number): string =>
  (
    randomBytes(length)
      .toString('hex')
      .match(/.{1,12}/g) ?? []
  )
    .join(' ')
    .slice(0, length);
const refs = Array.from({ length: ROWS }, (_, at) => `L${String(at)}`);

beforeAll(async () => {
  const contacts = Array.from({ length: 100 }, () => ({
    ...{ name: text(200), role: text(100), phone: text(50) },
    email: `${randomBytes(30).toString('hex')}@${'e'.repeat(60)}.example`,
  }));
  for (let from = 0; from < ROWS; from += PER_CALL) {
    const customers = refs.slice(from, from + PER_CALL).map((ref) => {
      return { external_ref: ref, name: text(200), contacts: contacts.map((one) => ({ ...one, name: text(200) })) };
    });
    const { status, text: answer } = await post(gateway, '/api/v1/customers/bulk', { customers });
    expect([status, answer.slice(0, 200)]).toEqual([200, expect.stringContaining(`"created":${String(PER_CALL)}`)]);
  }
});

/** Sends as many calls at once, and returns what they ended with. */
async function callAll(name: string, calls: number, call: (at: number) => Promise<string>): Promise<Set<string>> {
  const ends = new Set<string>();
  await watch(
    gateway,
    `large rows: ${name}`,
    async () => {
      await Promise.all(Array.from({ length: calls }, async (_, at) => ends.add(await call(at))));
    },
    { kept: KEPT },
  );
  return ends;
}

test.each([
  [10, 'dry runs', { dry_run: true }, () => ({ phone: '1' })],
  [2, 'calls that change all', {}, (at: number) => ({ phone: String(at) })],
])('%i short bulk calls at once: %s', async (calls, name, options, members) => {
  const ends = await callAll(name, calls, async (at) => {
    const customers = refs.map((ref) => ({ external_ref: ref, ...members(at) }));
    const { status, text: answer } = await post(gateway, '/api/v1/customers/bulk', { customers, ...options });
    return status === 200 ? String(/"failed":\d+/.exec(answer)?.[0]) : String(status);
  });
  expect([...ends].filter((one) => !['"failed":0', '409', '503'].includes(one))).toEqual([]);
  expect(ends).toContain('"failed":0');
});

test('2 short queries at once whose rows would be more than a request may keep', async () => {
  const lists = Array.from(
    { length: 12 },
    (_, at) => `c${String(at)}: customers(limit: 100) { data { contacts { id } } }`,
  );
  const ends = await callAll('queries', 2, async () => {
    const { text: answer } = await post(gateway, '/graphql', { query: `{ ${lists.join(' ')} }` });
    return String(/"code":"\w+"/.exec(answer)?.[0]);
  });
  expect([...ends].filter((one) => !['"code":"invalid_request"', '"code":"unavailable"'].includes(one))).toEqual([]);
  expect(ends).toContain('"code":"invalid_request"');
});

test('16 short queries at once about whole rows that others refer to', async () => {
  const { text: listed } = await post(gateway, '/graphql', { query: '{ customers(limit: 100) { data { id } } }' });
  const { data } = JSON.parse(listed) as { data: { customers: { data: { id: string }[] } } };
  for (const { id } of data.customers.data)
    expect((await post(gateway, '/api/v1/requests', { text: 'Large', customer_id: id })).status).toBe(201);
  const ends = await callAll('relations', 16, async (at) => {
    // different documents, since equal ones share their reads
    const query = `{ r${String(at)}: requests(limit: 100) { data { customer { etag name r${String(at)}: phone } } } }`;
    const { text: answer } = await post(gateway, '/graphql', { query });
    return /"code":"\w+"/.exec(answer)?.[0] ?? (answer.includes('"etag":') ? 'whole' : answer.slice(0, 100));
  });
  expect([...ends].filter((one) => one !== 'whole' && one !== '"code":"unavailable"')).toEqual([]);
  expect(ends).toContain('whole');
});
