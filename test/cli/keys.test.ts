import { mongo } from 'mongoose';
import { commandLine, makeOrganisation, NOBODY } from './commandLine';

interface MadeKey {
  readonly id: string;
  readonly key: string;
}

const cli = commandLine();
let org = '';
beforeAll(async () => {
  org = (await makeOrganisation(cli)).id;
});

test('a key is shown only when it is created', async () => {
  const made = await cli.json<MadeKey>(
    'key',
    'create',
    '--org',
    org,
    '--name',
    'shop',
    '--scopes',
    'products:read,quotes:read',
  );
  expect(made).toEqual({
    id: expect.any(String) as unknown,
    key: expect.stringMatching(/^svc_live_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}$/) as unknown,
    prefix: made.key.slice(0, 15),
    scopes: ['products:read', 'quotes:read'],
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
      created_by: expect.stringMatching(/^cli:./) as unknown,
      created_at: expect.stringMatching(/Z$/) as unknown,
      expires_at: null,
      revoked_at: null,
      rotated_to: null,
      last_used_at: null,
      last_used_from: null,
      mcp: 'read',
      state: 'active',
    },
  ]);
});

test('a key is active until it is revoked or expires', async () => {
  const { id } = await makeOrganisation(cli, 'States');
  const make = (name: string): Promise<MadeKey> =>
    cli.json('key', 'create', '--org', id, '--name', name, '--scopes', 'all', '--expires-in', '90d');
  const [lasting, revoked, expired] = [await make('lasting'), await make('revoked'), await make('expired')];
  expect(await cli.json('key', 'revoke', revoked.id)).toEqual({ id: revoked.id, revoked: true });
  await expire(expired.id);
  const rows = await cli.json<{ id: string; state: string; expires_at: string; created_at: string }[]>(
    'key',
    'list',
    '--org',
    id,
  );
  expect(rows.map((row) => [row.id, row.state])).toEqual([
    [lasting.id, 'active'],
    [revoked.id, 'revoked'],
    [expired.id, 'expired'],
  ]);
  const [first] = rows;
  const days = (Date.parse(first?.expires_at ?? '') - Date.parse(first?.created_at ?? '')) / 86_400_000;
  expect(days).toBeCloseTo(90, 3);
});

test('an active key is changed where something is given, and shown without its value', async () => {
  const { id: own } = await makeOrganisation(cli, 'Changes');
  const { id, key } = await cli.json<MadeKey>(
    ...['key', 'create', '--org', own, '--name', 'shop', '--scopes', 'quotes:read', '--expires-in', '1d'],
  );
  const changed = await cli.json<{ expires_at: string }>(
    ...['key', 'update', id, '--name', ' till ', '--expires-in', '90d', '--allow', '10.0.0.1,::1', '--mcp', 'off'],
  );
  expect(changed).toEqual({
    ...{ id, name: 'till', expires_at: expect.stringMatching(/Z$/) as unknown, mcp: 'off' },
    allowed_ranges: ['10.0.0.1/32', '::1/128'],
  });
  expect((Date.parse(changed.expires_at) - Date.now()) / 86_400_000).toBeCloseTo(90, 1);
  const { code, stdout } = await cli.run('key', 'update', id, '--never-expires', '--allow', 'anywhere');
  expect(code).toBe(0);
  expect(stdout).toMatch(/name +till\nexpires +never\nfrom +anywhere\nmcp +off\n/);
  expect(stdout).not.toContain(key);
  const events = await cli.json<{ actor: { who: string }; details: object }[]>(
    ...['audit', '--org', own, '--action', 'key.updated'],
  );
  expect(events).toMatchObject([
    { actor: { who: expect.stringMatching(/^cli:/) as unknown }, details: { to: { expires_at: null } } },
    { details: { name: 'shop', from: { name: 'shop', mcp: 'read' }, to: { name: 'till', mcp: 'off' } } },
  ]);

  const rotated = await cli.run('key', 'rotate', id, '--json');
  expect(rotated.code).toBe(0);
  const replaced = await cli.run('key', 'update', id, '--expires-in', '1d');
  expect({ code: replaced.code, stdout: replaced.stdout }).toEqual({ code: 1, stdout: '' });
  expect(replaced.stderr).toContain('was replaced and ends with its overlap');
  await cli.run('key', 'revoke', id);
  const revoked = await cli.run('key', 'update', id, '--name', 'x');
  expect(revoked.code).toBe(1);
  expect(revoked.stderr).toContain('a revoked or expired key cannot be changed');
});

test.each([
  [[], 'nothing to change: give --name'],
  [['--expires-in', '1d', '--never-expires'], 'cannot be used with'],
  [['--allow', 'everywhere'], 'everywhere is not an address'],
  [['--name', ' '], 'Expected one line'],
  [['--mcp', 'all'], 'Expected one of off, read, write'],
])('key update with %j exits with 2', async (options: string[], message) => {
  const { code, stdout, stderr } = await cli.run('key', 'update', NOBODY, ...options);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(message);
});

test('creating a key on a plan without API access warns', async () => {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'Small', '--plan', 'starter');
  const { code, stderr } = await cli.run('key', 'create', '--org', id, '--name', 'early', '--scopes', 'all', '--json');
  expect(code).toBe(0);
  expect(stderr).toContain('the plan starter has no API access');
});

test.each([
  [['key', 'create', '--org', NOBODY, '--name', 'A', '--scopes', 'all'], `organisation ${NOBODY} not found`],
  [['key', 'list', '--org', NOBODY], `organisation ${NOBODY} not found`],
  [['key', 'revoke', NOBODY], `key ${NOBODY} not found`],
  [['key', 'update', NOBODY, '--name', 'x'], `no active key ${NOBODY}`],
])('scopegate %j exits with 1 and says what was not found', async (line, message) => {
  const { code, stdout, stderr } = await cli.run(...line, '--json');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(message);
});

async function expire(id: string): Promise<void> {
  const client = await mongo.MongoClient.connect(process.env.TEST_MONGODB_URI ?? '');
  const keys = client.db(cli.controlDatabase).collection<{ _id: string }>('api_keys');
  await keys.updateOne({ _id: id }, { $set: { expires_at: new Date(Date.now() - 1000) } });
  await client.close();
}
