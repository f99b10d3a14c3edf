import { randomUUID } from 'node:crypto';
import { MOST_OBJECTS } from '../../src/graphql/answerSize';
import { type Answer, client, type Client } from '../support/client';
import { makeKey, makeOrganisation, northwind, store } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

const [ORDERS, LINES, PAGES] = [100, 60, 20];

let gateway: TestGateway;
let caller: Client;

beforeAll(async () => {
  gateway = await startGateway();
  const organisation = await makeOrganisation(gateway);
  const [customer] = northwind('customers');
  const [order] = northwind('orders') as unknown as [{ lines: object[] }];
  const orders = Array.from({ length: ORDERS }, (_order, at) => ({
    ...order,
    id: randomUUID(),
    quote_id: null,
    number: `L-${String(at)}`,
    customer_id: customer!.id,
    lines: Array.from({ length: LINES }, (_line, position) => ({ ...order.lines[0], id: randomUUID(), position })),
  }));
  await store(gateway, organisation, { customers: [customer!], orders });
  caller = client(gateway, (await makeKey(gateway, organisation)).key);
});
afterAll(() => gateway.stop());

/** Pages of all orders, some with lines. */
function pages(withLines: number): Promise<Answer> {
  const page = (at: number): string =>
    `p${String(at)}: orders(limit: ${String(ORDERS)}) { data { id ${at < withLines ? 'lines { id }' : ''} } }`;
  return caller.graphql(`{ ${Array.from({ length: PAGES }, (_page, at) => page(at)).join(' ')} }`);
}

/** How many pages may have lines. */
const ALLOWED = Math.floor((MOST_OBJECTS - PAGES * ORDERS) / (ORDERS * LINES));

test('lines inside rows count towards the objects of an answer: what is just allowed is answered whole', async () => {
  const { body } = await pages(ALLOWED);
  expect(body.errors).toBeUndefined();
  expect(body.data[`p${String(ALLOWED - 1)}`].data[ORDERS - 1].lines).toHaveLength(LINES);
});

// graphql-js runs it twice, then it is compiled
test.each([1, 2, 3])('past the limit it is refused with few words (run %i)', async () => {
  const { body, text, status } = await pages(ALLOWED + 1);
  expect(status).toBe(400);
  expect(body.errors).toHaveLength(1);
  expect(body.errors[0]).toMatchObject({
    message: expect.stringContaining('more than 100,000 objects'),
    extensions: { code: 'invalid_request', status: 400 },
  });
  expect(text.length).toBeLessThan(1000);
});
