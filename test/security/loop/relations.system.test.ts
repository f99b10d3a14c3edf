import { get } from 'node:http';
import mongoose from 'mongoose';
import { databaseName } from '../../../src/mongo/databaseNames';
import { northwind } from '../../support/factories';
import { post, watch, watchedGateway } from '../../support/watchdog';

/* Relations of objects as large as callers can make them. */

/** Lines of an order of some 190 kB; the rows of a list of 100 exceed what the database can put into one document, or into one reply. */
const LINES = 480;
/** What a query that selects little of large objects may use, in MiB: one alias alone reads 10 MB of them if it reads everything. */
const PEAK = 100;

const gateway = watchedGateway();

const orderId = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, '0')}`;

const ALL = 'id contacts { id name role phone email primary }';
const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, at) => `a${String(at)}: ${field}`).join(' ');

let customer: string;
beforeAll(async () => {
  const customers = await storeCustomers();
  customer = customers[0]!;
  const client = await mongoose.mongo.MongoClient.connect(gateway.cli.environment.MONGODB_URI!);
  const database = client.db(databaseName(gateway.organisation));
  const made = (at: number): Date => new Date(Date.UTC(2026, 0, 1, 0, at));
  const [order] = northwind('orders');
  const [line] = order!.lines as object[];
  const lines = Array.from({ length: LINES }, () => ({ ...line, description: 'd'.repeat(180) }));
  for (let at = 0; at < 101; at += 1) {
    const times = { placed_at: made(at), dispatched_at: null, created_at: made(at), updated_at: made(at) };
    const row = { ...order, _id: orderId(at), number: String(at), customer_id: customer, lines, ...times };
    await database.collection('orders').insertOne(row as never);
  }
  const threads = customers.map((id, at) => {
    const times = { last_message_at: made(at), created_at: made(at), updated_at: made(at) };
    return { _id: id, subject: 'Hello', status: 'open', customer_id: id, message_count: 1, ...times };
  });
  await database.collection('requests').insertMany(threads as never);
  await client.close();
  // loading and compiling at first are not measured
  await rest('/api/v1/requests?include=customer&limit=1');
  await graphql(
    `{ customer(id: "${customer}") { orders(limit: 1) { data { id } } requests { data { customer { id } } } } }`,
  );
});

/** Stores 100 customers of 100 kB each. Resolves with their ids. */
async function storeCustomers(): Promise<string[]> {
  const text = (length: number, from: number): string =>
    String.fromCharCode(...Array.from({ length }, (_, at) => 0x4e00 + ((from * 31 + at) % 20_000)));
  const ids: string[] = [];
  for (let from = 0; from < 100; from += 25) {
    const customers = Array.from({ length: 25 }, (_, at) => ({
      external_ref: String(from + at),
      name: 'Large',
      contacts: Array.from({ length: 100 }, (_none, one) => ({
        name: text(190, one),
        role: text(99, one + at),
        phone: text(49, at),
      })),
    }));
    const { text: body } = await post(gateway, '/api/v1/customers/bulk', { customers });
    ids.push(...(JSON.parse(body) as { results: { id: string }[] }).results.map(({ id }) => id));
  }
  return ids;
}

async function graphql(query: string): Promise<{ status: number; text: string }> {
  return post(gateway, '/graphql', { query });
}

/** Not by fetch, which now and then fails an assertion of its own when a large answer ends with its connection. */
function rest(path: string): Promise<{ status: number | undefined; text: string }> {
  const headers = { authorization: `Bearer ${gateway.key}` };
  return new Promise((resolve, reject) => {
    get(gateway.url + path, { agent: false, headers }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => (text += part));
      answer.on('end', () => {
        resolve({ status: answer.statusCode, text });
      });
    }).on('error', reject);
  });
}

test.each<[string, string, number, number?]>([
  [
    'the ids of customers under 20 aliases',
    aliases(20, 'requests(limit: 100) { data { customer { id } } }'),
    200,
    PEAK,
  ],
  [
    'contacts under 20 aliases, which are more than an answer may have',
    aliases(20, `requests(limit: 100) { data { customer { ${ALL} } } }`),
    400,
  ],
])('%s hold up nobody', async (name, query, status, peak = Infinity) => {
  const send = async (): Promise<void> => {
    expect((await graphql(`{ ${query} }`)).status).toBe(status);
  };
  await watch(gateway, name, send, { peak });
});

test('objects that REST includes hold up nobody', async () => {
  await watch(gateway, 'include', async () => {
    const { status, text } = await rest('/api/v1/requests?include=customer&limit=100');
    expect([status, text.length > 2_000_000]).toEqual([200, true]);
  });
});

test("a parent's list that is larger than a document of the database is complete, and holds up nobody", async () => {
  await watch(gateway, 'list of a parent', async () => {
    const list = 'orders(limit: 100) { data { id lines { id } } has_more }';
    const { status, text } = await graphql(`{ customer(id: "${customer}") { ${list} } }`);
    expect(status).toBe(200);
    const { data, has_more: hasMore } = (JSON.parse(text) as { data: Answer }).data.customer.orders;
    expect(data.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, at) => orderId(100 - at)));
    expect([data.every(({ lines }) => lines.length === LINES), hasMore]).toEqual([true, true]);
  });
});

interface Answer {
  readonly customer: {
    readonly orders: { readonly data: { readonly id: string; readonly lines: object[] }[]; readonly has_more: boolean };
  };
}
