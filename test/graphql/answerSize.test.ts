import { randomUUID } from 'node:crypto';
import { MOST_OBJECTS } from '../../src/schema/answerSize';
import { type Answer, client, type Client } from '../support/client';
import { makeKey, makeOrganisation, northwind, store } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

/** Lines of the only order, which is read once however often a query selects it. */
const LINES = 5500;

let gateway: TestGateway;
let caller: Client;
let id: string;

beforeAll(async () => {
  gateway = await startGateway();
  const organisation = await makeOrganisation(gateway);
  const [customer] = northwind('customers');
  const [order] = northwind('orders') as unknown as [{ lines: object[] }];
  const lines = Array.from({ length: LINES }, (_line, position) => ({ ...order.lines[0], id: randomUUID(), position }));
  id = randomUUID();
  const orders = [{ ...order, id, quote_id: null, customer_id: customer!.id, lines }];
  await store(gateway, organisation, { customers: [customer!], orders });
  caller = client(gateway, (await makeKey(gateway, organisation)).key);
});
afterAll(() => gateway.stop());

/** Queries the order with its lines `times` times. */
function ask(times: number): Promise<Answer> {
  const one = (at: number): string => `o${String(at)}: order(id: "${id}") { lines { id } }`;
  return caller.graphql(`{ ${Array.from({ length: times }, (_time, at) => one(at)).join(' ')} }`);
}

/** How often the order fits into one answer. */
const ALLOWED = Math.floor(MOST_OBJECTS / LINES);

test('lines count as objects of an answer, and an answer just within the limit is complete', async () => {
  const { body } = await ask(ALLOWED);
  expect(body.errors).toBeUndefined();
  expect(body.data[`o${String(ALLOWED - 1)}`].lines).toHaveLength(LINES);
});

// the first two runs use graphql-js, the third is compiled
test.each([1, 2, 3])('an answer over the limit is a short error (run %i)', async () => {
  const { body, text, status } = await ask(ALLOWED + 1);
  expect(status).toBe(400);
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0]).toMatchObject({
    message: expect.stringContaining('more than 100,000 objects'),
    extensions: { code: 'invalid_request', status: 400 },
  });
  expect(text.length).toBeLessThan(1000);
});
