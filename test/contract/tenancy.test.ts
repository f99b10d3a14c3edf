import { randomUUID } from 'node:crypto';
import { type Client, client } from '../support/client';
import { makeKey, makeOrganisation, northwind, store } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { argumentsOf, CALLS, RELATIONS, takesId } from '../support/operations';
import { SAME_ID, seen } from './answers';
import { IDS, makeStocked } from './scene';

let gateway: TestGateway;
/** A caller of the organisation with the rows of IDS. */
let owner: Client;
/** A caller of another organisation. */
let stranger: Client;

beforeAll(async () => {
  gateway = await startGateway();
  owner = client(gateway, (await makeKey(gateway, await makeStocked(gateway))).key);
  stranger = client(gateway, (await makeKey(gateway, await makeOrganisation(gateway))).key);
});
afterAll(() => gateway.stop());

describe("another organisation's object", () => {
  test.each(CALLS.filter(({ operation }) => takesId(operation)))(
    '$operation.name over $face.name gives the same bytes as an id that never existed',
    async ({ operation, face }) => {
      const args = argumentsOf(operation, IDS);
      expect(face.errorOf(await face.call(owner, operation, args))).toBeUndefined();
      const foreign = await face.call(stranger, operation, args, SAME_ID);
      const nowhere = await face.call(stranger, operation, { ...args, id: randomUUID() }, SAME_ID);
      expect(foreign.status).toBe(face.name === 'REST' ? 404 : 200);
      expect(face.errorOf(foreign)).toMatchObject({ code: 'not_found', status: 404 });
      expect(seen(foreign)).toEqual(seen(nowhere));
    },
  );

  test('is found only by its own organisation, with its id in any case', async () => {
    const path = `/quotes/${IDS.quote.toUpperCase()}`;
    expect((await owner.get(path)).body.id).toBe(IDS.quote);
    expect((await stranger.get(path)).status).toBe(404);
  });

  test.each(['/quotes', '/orders', '/requests'])('is not in %s filtered by its customer', async (path) => {
    expect((await owner.get(path, { customer_id: IDS.customer })).body.data).toHaveLength(1);
    expect((await stranger.get(path, { customer_id: IDS.customer })).body.data).toEqual([]);
  });

  test('cannot be reached through a relation that refers to it', async () => {
    const order = northwind('orders')[0]!;
    const elsewhere = await makeOrganisation(gateway);
    await store(gateway, elsewhere, { orders: [order] });
    const other = client(gateway, (await makeKey(gateway, elsewhere)).key);
    const single = RELATIONS.filter(({ parent }) => parent === 'Order');
    expect(single.map(({ name }) => name).sort()).toEqual(['customer', 'quote']);
    for (const { name, document } of single) {
      const args = { id: order.id };
      expect((await owner.graphql(document, args)).body.data.order[name]).toMatchObject({ id: expect.any(String) });
      expect((await other.graphql(document, args)).body).toEqual({
        data: { order: { id: order.id, [name]: null } },
      });
    }
  });

  test('cannot be changed: the same sku creates a separate object', async () => {
    const before = await owner.get(`/products/${IDS.product}`);
    const { body } = await stranger.post('/products/bulk', { products: [{ sku: before.body.sku, name: 'Ours' }] });
    expect(body).toMatchObject({ created: 1, updated: 0 });
    expect((await owner.get(`/products/${IDS.product}`)).text).toBe(before.text);
  });

  test('cannot be referred to in a write: it counts as a customer that does not exist', async () => {
    const faultOf = async (customer_id: string) =>
      (await stranger.post('/requests', { text: 'Hello', customer_id })).text;
    const [foreign, nowhere] = [await faultOf(IDS.customer), await faultOf(randomUUID())];
    expect(JSON.parse(foreign)).toMatchObject({ code: 'validation_failed', errors: [{ pointer: '/customer_id' }] });
    expect(without(foreign)).toEqual(without(nowhere));
  });

  function without(text: string): object {
    return { ...(JSON.parse(text) as object), request_id: '' };
  }
});
