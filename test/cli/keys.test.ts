import { randomUUID } from 'node:crypto';
import { databaseName } from '../../src/mongo/databaseNames';
import { driver } from '../support/gateway';
import { commandLine, makeKey, makeOrganisation, NOBODY } from './commandLine';

const cli = commandLine();
const bare = driver();
test("a key's value is shown only when it is created", async () => {
  const { id: org } = await makeOrganisation(cli);
  const made = await makeKey(cli, org, '--name', 'shop', '--scopes', 'products:read,quotes:read');
  expect(made).toEqual({
    id: expect.any(String) as unknown,
    key: expect.stringMatching(/^svc_live_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}$/) as unknown,
    prefix: made.key.slice(0, 15),
    scopes: ['products:read', 'quotes:read'],
    customer_ids: null,
  });
  const lists = [await cli.run('key', 'list', '--org', org, '--json'), await cli.run('key', 'list', '--org', org)];
  for (const { code, stdout } of lists) {
    expect(code).toBe(0);
    expect(stdout).toContain(made.id);
    expect(stdout).not.toMatch(/svc_live_[0-9A-Za-z]{22}_|hash|salt/);
  }
  expect(JSON.parse(lists[0]?.stdout ?? '')).toEqual([
    {
      id: made.id,
      name: 'shop',
      prefix: made.key.slice(0, 15),
      last_four: made.key.slice(-4),
      scopes: ['products:read', 'quotes:read'],
      allowed_ranges: [],
      customer_ids: null,
      mcp: 'read',
      state: 'active',
      kind: 'key',
      app: null,
      created_by: expect.stringMatching(/^cli:./) as unknown,
      created_at: expect.stringMatching(/Z$/) as unknown,
      expires_at: null,
      revoked_at: null,
      rotated_to: null,
      last_used_at: null,
      last_used_from: null,
    },
  ]);
});

test("key update changes only what is given, and does not print the key's value", async () => {
  const { id: own } = await makeOrganisation(cli, 'Changes');
  const { id, key } = await makeKey(cli, own, '--name', 'shop', '--scopes', 'quotes:read', '--expires-in', '1d');
  const changed = await cli.json<{ expires_at: string }>(
    ...['key', 'update', id, '--name', ' till ', '--expires-in', '90d', '--allow', '10.0.0.1,::1', '--mcp', 'off'],
  );
  expect(changed).toEqual({
    id,
    name: 'till',
    scopes: ['quotes:read'],
    expires_at: expect.stringMatching(/Z$/) as unknown,
    mcp: 'off',
    allowed_ranges: ['10.0.0.1/32', '::1/128'],
  });
  expect((Date.parse(changed.expires_at) - Date.now()) / 86_400_000).toBeCloseTo(90, 1);
  const others = ['--never-expires', '--allow', 'anywhere', '--scopes', 'orders:read,quotes:read'];
  const { code, stdout } = await cli.run('key', 'update', id, ...others);
  expect(code).toBe(0);
  expect(stdout).toMatch(/name +till\nscopes +quotes:read, orders:read\nexpires +never\nfrom +anywhere\nmcp +off\n/);
  expect(stdout).not.toContain(key);
  const events = await cli.json<{ actor: { who: string }; details: object }[]>(
    ...['audit', '--org', own, '--action', 'key.updated'],
  );
  expect(events).toMatchObject([
    { actor: { who: expect.stringMatching(/^cli:/) as unknown }, details: { to: { expires_at: null } } },
    { details: { name: 'shop', from: { name: 'shop', mcp: 'read' }, to: { name: 'till', mcp: 'off' } } },
  ]);

  await cli.json('key', 'rotate', id);
  const replaced = await cli.failed(1, 'key', 'update', id, '--expires-in', '1d');
  expect(replaced).toContain('was replaced, and stops working when its overlap with the new key ends');
});

test('key show prints everything known about a key except its value', async () => {
  const { id: own } = await makeOrganisation(cli, 'Shows');
  const given = ['--name', 'shop', '--scopes', 'quotes:read', '--allow', '10.0.0.0/8,::1', '--mcp', 'off'];
  const { id, key } = await makeKey(cli, own, ...given);
  const rotated = await cli.json<{ id: string }>('key', 'rotate', id, '--overlap', '1h');
  await change(id, { last_used_at: new Date('2026-11-20T10:00:00Z'), last_used_from: '10.0.0.7' });

  const [listed] = await cli.json<object[]>('key', 'list', '--org', own);
  expect(await cli.json('key', 'show', id)).toEqual({ ...listed, organisation: { id: own, name: 'Shows' } });
  const table = await cli.run('key', 'show', id.toUpperCase());
  expect(table.code).toBe(0);
  expect(table.stdout.split('\n')).toEqual([
    `id            ${id}`,
    'state         active',
    `key           ${key.slice(0, 15)}…${key.slice(-4)}`,
    'name          shop',
    `organisation  Shows (${own})`,
    'scopes        quotes:read',
    'from          10.0.0.0/8, ::1/128',
    'customers     all',
    'mcp           off',
    'kind          key',
    expect.stringMatching(/^created {7}\S+Z by cli:\S+$/),
    expect.stringMatching(/^expires {7}\S+Z$/),
    'last used     2026-11-20T10:00:00.000Z from 10.0.0.7',
    `replaced by   ${rotated.id}`,
    '',
  ]);
  await cli.run('key', 'revoke', rotated.id);
  const { stdout } = await cli.run('key', 'show', rotated.id);
  expect(stdout).toMatch(/state +revoked\n[^]*expires +never\nrevoked +\S+Z\nlast used +never\nreplaced by +none\n$/);
});

test('a key that leaked can be looked up and revoked by its value, without its prefix or organisation being known', async () => {
  const { id: own } = await makeOrganisation(cli, 'Leaked');
  const { id, key } = await makeKey(cli, own);
  expect(await cli.json('key', 'show', key)).toMatchObject({ id, organisation: { id: own } });
  expect(await cli.json('key', 'revoke', key)).toEqual({ id, revoked: true });
  const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  expect(await cli.failed(2, 'key', 'revoke', mistyped)).toContain('Expected a UUID');
});

test.each(['update', 'rotate'])(
  'a key is active until it is revoked or expires, and then key %s says why it is not',
  async (command) => {
    const { id: own } = await makeOrganisation(cli, 'Ended');
    const make = () => makeKey(cli, own, '--expires-in', '90d');
    const [lasting, revoked, expired] = [await make(), await make(), await make()];
    expect(await cli.json('key', 'revoke', revoked.id)).toEqual({ id: revoked.id, revoked: true });
    await expire(expired.id);
    const rows = await cli.json<Record<'state' | 'created_at' | 'expires_at', string>[]>('key', 'list', '--org', own);
    expect(rows.map(({ state }) => state)).toEqual(['active', 'revoked', 'expired']);
    expect((Date.parse(rows[0]!.expires_at) - Date.parse(rows[0]!.created_at)) / 86_400_000).toBeCloseTo(90, 3);
    expect(await cli.json('key', 'show', lasting.id)).toMatchObject({ state: 'active' });
    const options = command === 'update' ? ['--name', 'x'] : [];
    const next = `so it cannot be ${command === 'update' ? 'changed' : 'rotated'}; for a new one: scopegate key create`;
    for (const [id, ended] of Object.entries({ [revoked.id]: 'was revoked', [expired.id]: 'expired' })) {
      const shown = await cli.json<Record<string, string>>('key', 'show', id);
      const at = shown.revoked_at ?? shown.expires_at;
      const said = await cli.failed(1, 'key', command, id, ...options);
      expect(said).toContain(`key ${id} ${ended} at ${at!}, ${next} --org ${own}`);
    }
    const none = await cli.failed(1, 'key', command, NOBODY, ...options);
    expect(none).toContain(`key ${NOBODY} not found; see scopegate key list`);
  },
);

test('creating a key on a plan without API access prints a warning', async () => {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'Small', '--plan', 'starter');
  const { code, stderr } = await cli.run('key', 'create', '--org', id, '--name', 'early', '--scopes', 'all', '--json');
  expect(code).toBe(0);
  expect(stderr).toContain('the starter plan has no API access');
});

test('creating a key beyond MAX_KEYS exits with 1 and says what to do', async () => {
  const tight = commandLine({ MAX_KEYS: '1' });
  const { id } = await makeOrganisation(tight);
  await makeKey(tight, id);
  const said = await tight.failed(1, 'key', 'create', '--org', id, '--name', 'k', '--scopes', 'all', '--json');
  expect(said).toContain(
    'the organisation has at least 1 active key, the most it may have; revoke one first, or raise MAX_KEYS',
  );
});

test('a key for some customers names those that are not there, and says which it has wherever it is shown', async () => {
  const { id: org } = await makeOrganisation(cli);
  const customer = randomUUID();
  const customers = bare.db(databaseName(org)).collection<{ _id: string; external_ref: string }>('customers');
  await customers.insertOne({ _id: customer, external_ref: 'C-9' });
  const create = ['key', 'create', '--org', org, '--name', 'agency', '--scopes', 'orders:read', '--customer-ids'];
  expect(await cli.failed(2, ...create, `${customer},${NOBODY},ref:C-8`)).toContain(
    `--customer-ids: ${NOBODY}, ref:C-8 are not customers of the organisation`,
  );
  expect(await cli.failed(2, ...create, 'C-1')).toContain(
    'Expected a UUID, or ref: and an external_ref, of each customer: C-1 is neither.',
  );
  expect(await cli.failed(2, ...create, Array.from({ length: 101 }, () => randomUUID()).join())).toContain(
    'Expected 1 to 100 customers.',
  );
  const made = await makeKey(
    cli,
    org,
    '--name',
    'agency',
    '--scopes',
    'orders:read',
    '--customer-ids',
    `${customer},ref:C-9`,
  );
  expect(made).toMatchObject({ customer_ids: [customer] });
  expect((await cli.run('key', 'show', made.id)).stdout).toContain(customer);
  expect(JSON.parse((await cli.run('key', 'show', made.id, '--json')).stdout)).toMatchObject({
    customer_ids: [customer],
    allowed_ranges: [],
  });
  await cli.run('key', 'update', made.id, '--allow', '203.0.113.0/24');
  const rotated = JSON.parse((await cli.run('key', 'rotate', made.id, '--json')).stdout) as { id: string };
  expect(rotated).toMatchObject({ customer_ids: [customer] });
  expect(JSON.parse((await cli.run('key', 'show', rotated.id, '--json')).stdout)).toMatchObject({
    customer_ids: [customer],
    allowed_ranges: ['203.0.113.0/24'],
  });
});

test.each([
  [['key', 'create', '--org', NOBODY, '--name', 'A', '--scopes', 'all'], `organisation ${NOBODY} not found`],
  [['key', 'list', '--org', NOBODY], `organisation ${NOBODY} not found`],
  [['key', 'revoke', NOBODY], `key ${NOBODY} not found`],
  [['key', 'show', NOBODY], `key ${NOBODY} not found; see scopegate key list --org ID`],
])('scopegate %j exits with 1 and names what was not found', async (line, message) => {
  expect(await cli.failed(1, ...line, '--json')).toContain(message);
});

const expire = (id: string) => change(id, { expires_at: new Date(Date.now() - 1000) });
const change = (id: string, $set: object) =>
  bare.db(cli.controlDatabase).collection<{ _id: string }>('api_keys').updateOne({ _id: id }, { $set });
