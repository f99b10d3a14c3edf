import { client, type Client, readAll } from '../support/client';
import { makeKey, makeNorthwind, northwind } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

let gateway: TestGateway;
let caller: Client;

beforeAll(async () => {
  gateway = await startGateway();
  const organisation = await makeNorthwind(gateway);
  caller = client(gateway, (await makeKey(gateway, organisation)).key);
});
afterAll(() => gateway.stop());

describe('listing products', () => {
  test('pages of any size together give every product once, newest first', async () => {
    const rows = await readAll(caller, '/products', { limit: 30 });
    expect(rows).toHaveLength(77);
    expect(new Set(rows.map((row) => row.id)).size).toBe(77);
    expect(rows.map((row) => row.id)).toEqual(northwind('products').map((row) => row.id).sort().reverse());
  });
});
