import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { encode } from 'gpt-tokenizer';
import type { McpAccess } from '../../../src/auth/principal';
import { allScopes, type Scope } from '../../../src/auth/scopes';
import { client, type Client, type Json } from '../../support/client';
import { callerOf, makeKey, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { argumentsOf, MCP, operations } from '../../support/operations';
import { IDS } from '../../support/fixtures/contract';

/* Which tools a key sees and may use. */

const gateway = served();
const organisation = late(() => makeOrganisation(gateway));

function callerWith(scopes: readonly Scope[], mcp: McpAccess = 'write'): Promise<Client> {
  return callerOf(gateway, organisation, { scopes, mcp });
}

async function toolsOf(caller: Client): Promise<Json[]> {
  return (await caller.mcp('tools/list')).body.result.tools;
}

const namesOf = (tools: Json[]): string[] => tools.map(({ name }: Json) => name);

test('every operation is a tool, always in the order of the schema', async () => {
  const caller = await callerWith(allScopes());
  const tools = await toolsOf(caller);
  expect(namesOf(tools)).toEqual(operations.map(({ name }) => name));
  expect(await toolsOf(caller)).toEqual(tools);
});

test('the list is small enough to be sent to a model in each conversation', async () => {
  const tokens = encode(JSON.stringify({ tools: await toolsOf(await callerWith(allScopes())) })).length;
  process.stdout.write(`tools/list: ${String(tokens)} tokens\n`);
  // some 5,000 for the first 16; 14 of each are of metadata, which ten take and five filter by
  expect(tokens / operations.length).toBeLessThan(326);
});

test('each tool has a schema that accepts its arguments, does not mention REST, and has every hint', async () => {
  // rejects unknown keywords, as clients' validators do
  const ajv = new Ajv2020({ strict: false, strictSchema: true });
  addFormats(ajv);
  for (const { name, description, inputSchema, annotations } of await toolsOf(await callerWith(allScopes()))) {
    const operation = operations.find((operation) => operation.name === name)!;
    expect(inputSchema.type).toBe('object');
    const check = ajv.compile(inputSchema);
    const args = { ...argumentsOf(operation, IDS) };
    // its second element is incomplete on purpose
    for (const [member, value] of Object.entries(args))
      if (name.startsWith('upsert') && Array.isArray(value)) args[member] = [value[0]];
    expect([check(args), check.errors]).toEqual([true, null]);
    for (const required of inputSchema.required ?? []) expect(check({ ...args, [required]: undefined })).toBe(false);
    expect(description).toMatch(/\.$/);
    expect(Object.keys(annotations as object)).toEqual([
      ...['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'],
    ]);
  }
});

test('schemas have one type for each value, and none that some clients refuse a whole list of tools for', async () => {
  const unfit: string[] = [];
  const look = (place: string, schema: Json): void => {
    if (typeof schema.type !== 'string') unfit.push(`${place} has the type ${JSON.stringify(schema.type)}`);
    for (const keyword of ['anyOf', 'oneOf', 'allOf', '$ref', '$defs', 'definitions', 'nullable'])
      if (keyword in schema) unfit.push(`${place} has ${keyword}`);
    for (const [name, member] of Object.entries<Json>(schema.properties ?? {})) look(`${place}.${name}`, member);
    if (schema.items) look(`${place}[]`, schema.items);
  };
  for (const { name, inputSchema } of await toolsOf(await callerWith(allScopes()))) look(name, inputSchema);
  expect(unfit).toEqual([]);
});

test('a list says what its objects are, and when to use it', async () => {
  const lists = (await toolsOf(await callerWith(allScopes()))).filter(
    ({ inputSchema: { properties } }) => 'cursor' in properties || 'after' in properties,
  );
  expect(lists.length).toBeGreaterThan(5);
  for (const { description } of lists) expect(description).toMatch(/^List .* Use this to /);
});

const ADDING = ['open_request', 'add_request_message'];
const CHANGING = ['upsert_products', 'update_product', 'upsert_customers', 'update_customer', 'update_request'];

test('hints mark what reads, what can be repeated, what overwrites, and where outsiders write', async () => {
  const tools = await toolsOf(await callerWith(allScopes()));
  const having = (hint: string): string[] => namesOf(tools.filter(({ annotations }) => annotations[hint]));
  const writes = operations.filter(({ kind }) => kind === 'Mutation').map(({ name }) => name);
  expect(writes.filter((name) => !having('destructiveHint').includes(name))).toEqual(ADDING);
  expect(namesOf(tools.filter(({ annotations }) => !annotations.readOnlyHint)).sort()).toEqual(writes.toSorted());
  const once = namesOf(tools.filter(({ annotations }) => !annotations.idempotentHint));
  expect(once.filter((name) => [...ADDING, ...CHANGING].includes(name) || !writes.includes(name))).toEqual(ADDING);
  expect(having('openWorldHint').sort()).toEqual(
    // of products the names of files
    [
      ...ADDING,
      'request',
      'request_messages',
      'requests',
      'update_request',
      'product',
      'products',
      'update_product',
    ].sort(),
  );
});

test('a key sees only tools within its scopes, and calling another names the missing scope', async () => {
  const caller = await callerWith(['quotes:read']);
  expect(namesOf(await toolsOf(caller))).toEqual(
    operations
      .filter(
        ({ scope, anyOf }) => (scope ?? 'quotes:read') === 'quotes:read' && (anyOf?.includes('quotes:read') ?? true),
      )
      .map(({ name }) => name),
  );
  const { body } = await caller.mcp('tools/call', { name: 'orders', arguments: {} });
  expect(body.result.isError).toBe(true);
  expect(MCP.errorOf(await caller.mcp('tools/call', { name: 'orders' }))).toMatchObject({
    code: 'insufficient_scope',
    required_scope: 'orders:read',
    request_id: expect.any(String),
  });
});

describe('access over MCP', () => {
  const write = { name: 'open_request', arguments: { text: 'Do you deliver to Leeds?' } };

  test('read: only reads, even if the scopes allow more, while REST is unaffected', async () => {
    const caller = await callerWith(allScopes(), 'read');
    const names = namesOf(await toolsOf(caller));
    expect(names).toEqual(operations.filter(({ kind }) => kind === 'Query').map(({ name }) => name));
    const before = (await caller.get('/requests')).body.data.length;
    const refused = await caller.mcp('tools/call', write);
    expect(refused.status).toBe(200);
    expect(MCP.errorOf(refused)).toMatchObject({ code: 'forbidden', detail: expect.stringContaining('mcp') });
    expect((await caller.get('/requests')).body.data).toHaveLength(before);
    expect((await caller.post('/requests', { text: 'Hello' })).status).toBe(201);
  });

  test('off: nothing', async () => {
    const caller = await callerWith(allScopes(), 'off');
    for (const method of ['server/discover', 'tools/list', 'tools/call']) {
      const { status, body } = await caller.mcp(method, { name: 'me' });
      expect({ status, code: body.code }).toEqual({ status: 403, code: 'forbidden' });
    }
    expect((await caller.get('/me')).status).toBe(200);
  });

  test('a key without the setting, like those created before it existed, can read', async () => {
    const { id, key } = await makeKey(gateway, organisation);
    const keys = gateway.databases.control.collection('api_keys');
    const changed = await keys.updateOne({ _id: id as never }, { $unset: { mcp: '' } });
    expect(changed.modifiedCount).toBe(1);
    expect(namesOf(await toolsOf(client(gateway, key)))).not.toContain('open_request');
    expect(namesOf(await toolsOf(client(gateway, key)))).toContain('requests');
  });
});
