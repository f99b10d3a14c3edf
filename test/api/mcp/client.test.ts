import { Client as McpClient, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';

/* The protocol's own client, with its preferred revision and those of 2025. */

const gateway = served();
const made = late(async () => makeKey(gateway, await makeOrganisation(gateway)));

const MODES = [{ mode: { pin: '2026-07-28' } }, { mode: 'auto' }, { mode: 'legacy' }] as const;

async function connected(
  versionNegotiation: (typeof MODES)[number],
  use: (agent: McpClient) => Promise<void>,
  authorization = `Bearer ${made.key}`,
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

describe.each(MODES)('a client with $mode', (negotiation) => {
  test('connects, lists tools and calls them', async () => {
    await connected(negotiation, async (agent) => {
      expect(agent.getServerVersion()?.name).toBe('scopegate');
      const { tools } = await agent.listTools();
      expect(tools.map(({ name }) => name)).toContain('customers');
      const { content, isError }: Json = await agent.callTool({ name: 'me', arguments: {} });
      expect(isError ?? false).toBe(false);
      expect(JSON.parse(content[0].text as string)).toMatchObject({ key: { name: 'test' } });
    });
  });

  test('gets an error for an unknown tool and for a wrong key', async () => {
    await connected(negotiation, async (agent) => {
      await expect(agent.callTool({ name: 'nothing', arguments: {} })).rejects.toThrow(/There is no tool "nothing"/);
    });
    await expect(connected(negotiation, () => Promise.resolve(), 'Bearer svc_live_wrong')).rejects.toThrow();
  });
});
