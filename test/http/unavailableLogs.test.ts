import { mongo } from 'mongoose';
import { ALL_SCOPES } from '../../src/auth/scopes';
import { AppError } from '../../src/errors';
import { type Client, client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';
import { eventually } from './eventually';

let gateway: TestGateway;
let caller: Client;

beforeAll(async () => {
  gateway = await startGateway({ LOG_LEVEL: 'trace' });
  caller = client(gateway, (await makeKey(gateway, await makeOrganisation(gateway))).key);
});
afterAll(() => gateway.stop());

describe('the log line of a 503', () => {
  afterEach(() => jest.restoreAllMocks());

  /** All that is logged of a request, at any level and of any kind. */
  async function onlyLineOf(requestId: string | null): Promise<Record<string, unknown>> {
    await eventually(() => gateway.logs.some((line) => line.request_id === requestId && line.method !== undefined));
    const all = gateway.logs.filter(({ request_id: id }) => id === requestId);
    expect(all).toHaveLength(1);
    expect(JSON.stringify(all)).not.toContain('stack');
    return all[0]!;
  }

  const failKeys = (error: Error): void => {
    jest.spyOn(gateway.control.apiKeys, 'find').mockRejectedValue(error);
  };

  test.each<[string, Error, Record<string, unknown>]>([
    ['the database does not respond', new mongo.MongoNetworkError('lost'), { reason: 'away' }],
    [
      'a cluster does not respond',
      new AppError('unavailable', 'Away.', { reason: 'away', cluster: 'eu' }),
      { reason: 'away', cluster: 'eu', detail: 'Away.' },
    ],
    ['too much is in progress', new AppError('unavailable', 'Too much.', { reason: 'shed' }), { reason: 'shed' }],
    ['the gateway drains', new AppError('unavailable', 'Drains.', { reason: 'draining' }), { reason: 'draining' }],
  ])('is the only one, and says that %s', async (_title, error, expected) => {
    failKeys(error);
    for (const { headers } of [await caller.get('/me'), await caller.graphql('{ me { key { id } } }')]) {
      const line = await onlyLineOf(headers.get('x-request-id'));
      expect(line).toMatchObject({ level: 40, status: 503, code: 'unavailable', ...expected });
      expect(line.error).toEqual(
        error instanceof AppError ? undefined : { type: 'MongoNetworkError', message: 'lost' },
      );
    }
  });

  test('says why on a page of the settings too', async () => {
    jest.spyOn(gateway.control.sessions, 'find').mockRejectedValue(new mongo.MongoNetworkError('lost'));
    const { status, headers } = await fetch(`${gateway.url}/settings/integrations`, {
      headers: { cookie: `scopegate_session=${'x'.repeat(43)}` },
    });
    expect(status).toBe(503);
    expect(await onlyLineOf(headers.get('x-request-id'))).toMatchObject({
      level: 40,
      reason: 'away',
      code: 'unavailable',
    });
  });

  test('is no warning for a write that a move refuses, in any API', async () => {
    const moved = await makeOrganisation(gateway);
    const mover = client(gateway, (await makeKey(gateway, moved, { scopes: ALL_SCOPES, mcp: 'write' })).key);
    const [at, products] = [new Date(), [{ sku: 'A', name: 'A' }]];
    await gateway.databases.control
      .collection<{ _id: string }>('organisations')
      .updateOne({ _id: moved.id }, { $set: { move: { to: 'eu', mover: 'x', begun_at: at, seen_at: at } } });
    const answers = [
      await mover.post('/products/bulk', { products }),
      await mover.graphql(
        'mutation($products: [ProductUpsert!]!) { upsert_products(products: $products) { created } }',
        {
          products,
        },
      ),
      await mover.mcp('tools/call', { name: 'upsert_products', arguments: { products } }),
    ];
    for (const { headers } of answers) {
      const line = await onlyLineOf(headers.get('x-request-id'));
      expect(line).toMatchObject({ level: 30, code: 'unavailable', reason: 'moving', cluster: 'default' });
    }
    const text = await (await fetch(`${gateway.url}/metrics`)).text();
    expect(text).toMatch(/^scopegate_http_requests_unavailable_total\{reason="moving"\} 2$/m);
  });
});
