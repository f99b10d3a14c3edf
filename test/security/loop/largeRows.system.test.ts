import { randomBytes } from 'node:crypto';
import { post, watch, watchedGateway } from '../../support/watchdog';

/* Short calls about large rows, on a heap on which the rows of a few of them would not fit. */

/** Rows of about 100 kB, by contacts of the maximum length whose words all differ. */
const ROWS = 100;
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
    name: text(200),
    role: text(100),
    phone: text(50),
    email: `${randomBytes(30).toString('hex')}@${'e'.repeat(60)}.example`,
  }));
  for (let from = 0; from < ROWS; from += PER_CALL) {
    const customers = refs.slice(from, from + PER_CALL).map((ref) => {
      return {
        external_ref: ref,
        name: text(200),
        contacts: contacts.map((contact) => ({ ...contact, name: text(200) })),
      };
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

test('16 short queries at once about whole rows that others refer to', async () => {
  // whole, so that their size is known
  const { text: listed } = await post(gateway, '/graphql', { query: '{ customers(limit: 100) { data { id etag } } }' });
  const { data } = JSON.parse(listed) as { data: { customers: { data: { id: string }[] } } };
  for (const { id } of data.customers.data)
    expect((await post(gateway, '/api/v1/requests', { text: 'Large', customer_id: id })).status).toBe(201);
  const read = async (at: number): Promise<string> => {
    // different documents, since equal ones share their reads
    const query = `{ r${String(at)}: requests(limit: 100) { data { customer { etag name r${String(at)}: phone } } } }`;
    const { text: answer } = await post(gateway, '/graphql', { query });
    return /"code":"\w+"/.exec(answer)?.[0] ?? (answer.includes('"etag":') ? 'whole' : answer.slice(0, 100));
  };
  const ends = await callAll('relations', 16, read);
  expect([...ends].filter((end) => end !== 'whole' && end !== '"code":"unavailable"')).toEqual([]);
  // the rows of all may grow at once, so that each is refused; then none of them holds any memory
  expect(await read(16)).toBe('whole');
});
