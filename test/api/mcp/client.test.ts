import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { randomUUID } from 'node:crypto';
import { client, type Client, type Json } from '../../support/client';
import { makeKey, makeOrganisation, northwind, store } from '../../support/factories';
import { served } from '../../support/gateway';

/* The protocol's own client, with its preferred revision and those of 2025, and a scripted agent that uses it. */

const gateway = served();
let key: string;
let rest: Client;

beforeAll(async () => {
  const organisation = await makeOrganisation(gateway);
  ({ key } = await makeKey(gateway, organisation));
  rest = client(gateway, key);
  await store(gateway, organisation, { customers: northwind('customers'), orders: northwind('orders').slice(0, 60) });
});

const MODES = [{ mode: { pin: '2026-07-28' } }, { mode: 'auto' }, { mode: 'legacy' }] as const;

async function connected(
  versionNegotiation: (typeof MODES)[number],
  use: (agent: McpClient) => Promise<void>,
  authorization = `Bearer ${key}`,
): Promise<void> {
  const agent = new McpClient({ name: 'test', version: '1.0.0' }, { versionNegotiation });
  const transport = new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`), {
    requestInit: { headers: { authorization } },
  });
  await agent.connect(transport);
  try {
    await use(agent);
  } finally {
    await agent.close();
  }
}

async function use(agent: McpClient, name: string, args: Record<string, unknown> = {}): Promise<Json> {
  const { content, isError } = (await agent.callTool({ name, arguments: args })) as Json;
  return {
    isError: isError ?? false,
    value: JSON.parse(content[0].text),
    texts: content.map(({ text }: Json) => text),
  };
}

describe.each(MODES)('a client with $mode', (negotiation) => {
  test('connects, lists tools and calls them', async () => {
    await connected(negotiation, async (agent) => {
      expect(agent.getServerVersion()?.name).toBe('scopegate');
      const { tools } = await agent.listTools();
      expect(tools.map(({ name }) => name)).toContain('customers');
      const { value, isError } = await use(agent, 'me');
      expect(isError).toBe(false);
      expect(value).toMatchObject({ key: { name: 'test' } });
    });
  });

  test('gets an error for an unknown tool and for a wrong key', async () => {
    await connected(negotiation, async (agent) => {
      await expect(agent.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow(/There is no tool "nothing"/);
    });
    await expect(connected(negotiation, () => Promise.resolve(), 'Bearer svc_live_wrong')).rejects.toThrow();
  });
});

test('an agent finds a customer, reads its orders, corrects a write, and repeats it without storing it twice', async () => {
  await connected({ mode: 'auto' }, async (agent) => {
    const { tools } = await agent.listTools();
    const find = tools.find(({ name, inputSchema }) => name === 'customers' && 'q' in (inputSchema.properties ?? {}));
    const [customer] = (await use(agent, find!.name, { q: 'alfreds' })).value.data;
    expect(customer).toMatchObject({ external_ref: 'ALFKI', id: expect.any(String) });

    const orders: Json[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { value } = await use(agent, 'orders', { limit: 2, ...(cursor !== undefined && { cursor }) });
      orders.push(...value.data);
      cursor = value.next_cursor;
    }
    const { body } = await rest.get('/orders', { limit: 100 });
    expect(orders.map(({ id }) => id)).toEqual(body.data.map(({ id }: Json) => id));

    const wrong = await use(agent, 'upsert_products', { products: [{ sku: 'AGENT-1', nam: 'Bolt' }], atomic: true });
    expect(wrong).toMatchObject({
      isError: true,
      value: {
        code: 'validation_failed',
        errors: expect.arrayContaining([expect.objectContaining({ pointer: '/products/0/nam' })]),
      },
    });
    expect((await rest.get('/products', { sku: 'AGENT-1' })).body.data).toEqual([]);
    const mended = { products: [{ sku: 'AGENT-1', name: 'Bolt' }], atomic: true, idempotency_key: randomUUID() };
    const done = await use(agent, 'upsert_products', mended);
    expect(done.value).toMatchObject({ created: 1, failed: 0 });
    expect((await use(agent, 'upsert_products', mended)).value).toEqual(done.value);
    const [product] = (await rest.get('/products', { sku: 'AGENT-1' })).body.data;
    expect(product).toMatchObject({ id: done.value.results[0].id, name: 'Bolt' });
  });
});
