import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { shardOfAny } from '../support/differences';
import { driver } from '../support/gateway';
import { plansFile } from '../support/plansFile';
import { checkOf, commandLine, makeOrganisation, newFolder, NOBODY, NORTHWIND } from './commandLine';

const cli = commandLine();
const bare = driver();

test('an organisation is created on the integrations plan by default, and is listed', async () => {
  const first = await makeOrganisation(cli, 'Ärger & Söhne');
  const second = await cli.json('org', 'create', '--name', 'Acme', '--plan', 'starter', '--currency', 'EUR');
  expect(first).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/) as unknown,
    name: 'Ärger & Söhne',
    plan: 'integrations',
    shard: await shardOfAny(bare),
    state: 'active',
    currency: 'USD',
    external_ref: null,
    sandbox_of: null,
    created_at: expect.any(String) as unknown,
  });
  expect(second).toMatchObject({ name: 'Acme', plan: 'starter' });
  expect(await cli.json('org', 'list')).toEqual([first, second]);
});

test('an external_ref has at most 200 characters, as in the operator API and in organisation.json', async () => {
  const create = ['org', 'create', '--name', 'Long', '--external-ref'];
  expect(await cli.failed(2, ...create, 'x'.repeat(201))).toContain('must have at most 200 characters');
  expect(await cli.json(...create, 'x'.repeat(200))).toMatchObject({ external_ref: 'x'.repeat(200) });
});

test('list filters by plan, as JSON, as JSON lines and as a table', async () => {
  const mine = commandLine();
  const made = [];
  for (const plan of ['starter', 'enterprise', 'starter']) {
    made.push(await mine.json<{ id: string; plan: string }>('org', 'create', '--name', plan, '--plan', plan));
  }
  const starters = made.filter(({ plan }) => plan === 'starter');
  expect(await mine.json('org', 'list', '--plan', 'starter')).toEqual(starters);
  const lines = (await mine.run('org', 'list', '--json-lines')).stdout.trimEnd().split('\n');
  expect(lines.map((line): unknown => JSON.parse(line))).toEqual(made);
  const table = (await mine.run('org', 'list', '--plan', 'starter')).stdout.split('\n');
  expect([table[0], table.length]).toEqual([expect.stringMatching(/^ID +PLAN +STATE +SHARD +NAME$/), 4]);
  await mine.failed(2, 'org', 'list', '--json', '--json-lines');
  await mine.failed(2, 'org', 'list', '--plan', 'gold');
});

test('the plans are those of PLANS_FILE; one that it lacks is refused, and named by doctor if organisations are on it', async () => {
  const former = commandLine();
  const CONTROL_DATABASE = former.controlDatabase;
  const PLANS_FILE = plansFile({
    plans: { free: { api: false }, growth: { api: true, active_keys: 1 } },
    default: 'growth',
  });
  const mine = commandLine({ CONTROL_DATABASE, PLANS_FILE });
  const { id } = await makeOrganisation(former);
  expect((await makeOrganisation(mine, 'Growing')).plan).toBe('growth');
  for (const args of [
    ['create', '--name', 'A', '--plan', 'gold'],
    ['list', '--plan', 'gold', '--json'],
  ])
    expect(await mine.failed(2, 'org', ...args)).toContain('--plan must be one of free, growth');
  expect(await mine.failed(2, 'org', 'set-plan', id, 'starter')).toContain('<plan> must be one of free, growth');
  expect(await mine.json('org', 'list', '--plan', 'integrations')).toMatchObject([{ id, plan: 'integrations' }]);
  expect(await checkOf(mine, 'plans')).toEqual({
    name: 'plans',
    ok: false,
    detail:
      'PLANS_FILE has free, growth, and not the plans of 1 organisation on integrations: their keys get 403 plan_required',
    fix: expect.stringContaining('scopegate org list --plan integrations') as unknown,
  });
  expect(await checkOf(former, 'plans')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('1 organisation on growth'),
  });
  expect((await mine.run('org', 'set-plan', id, 'free')).stdout).toContain(
    'on the free plan: its keys have no API access',
  );
  expect(await checkOf(mine, 'plans')).toEqual({ name: 'plans', ok: true, detail: 'PLANS_FILE has free, growth' });
  expect(await checkOf(cli, 'plans')).toBeUndefined();
  // the folder's organisation.json has the plan integrations
  expect(await mine.failed(1, 'import', '--org', id, '--organisation', NORTHWIND)).toContain(
    'organisation.json: plan is integrations, and must be one of free, growth: nothing was stored',
  );
});

test('show, rename, set-plan, suspend and resume print the organisation; repeating them changes and audits nothing', async () => {
  const { id, created_at } = await makeOrganisation(cli, 'Before');
  const shown = {
    id,
    name: 'Before',
    plan: 'integrations',
    shard: await shardOfAny(bare),
    state: 'active',
    currency: 'USD',
    external_ref: null,
    sandbox_of: null,
    created_at,
  };
  expect(await cli.json('org', 'show', id)).toEqual({ ...shown, stored_bytes: 0 });
  const changes: [string[], object][] = [
    [['rename', id, 'After'], { ...shown, name: 'After' }],
    [['set-plan', id, 'enterprise'], { ...shown, name: 'After', plan: 'enterprise' }],
    [['suspend', id], { ...shown, name: 'After', plan: 'enterprise', state: 'suspended' }],
    [['resume', id], { ...shown, name: 'After', plan: 'enterprise' }],
  ];
  for (const [args, changed] of changes) {
    for (const again of [1, 2]) expect({ again, is: await cli.json('org', ...args) }).toEqual({ again, is: changed });
  }
  expect(await cli.json('org', 'list')).toContainEqual(expect.objectContaining({ id, plan: 'enterprise' }));
  const events = await cli.json<{ action: string; details: object }[]>('audit', '--org', id);
  expect(events.map(({ action }) => action).reverse()).toEqual([
    ...['organisation.created', 'organisation.renamed', 'organisation.plan_changed', 'organisation.suspended'],
    'organisation.resumed',
  ]);
  expect(events[3]?.details).toEqual({ from: 'Before', to: 'After' });
});

test.each([
  ['show', NOBODY],
  ['rename', NOBODY, 'Name'],
  ['set-plan', NOBODY, 'starter'],
  ['suspend', NOBODY],
  ['resume', NOBODY],
  ['erase', NOBODY, '--confirm', 'Name'],
  ['link', '--org', NOBODY],
  ['sign-out', '--org', NOBODY],
])('org %s for an organisation that does not exist is an error with a next step', async (...args) => {
  const said = await cli.failed(1, 'org', ...args, '--json');
  expect(said).toContain(`organisation ${NOBODY} not found; see scopegate org list`);
});

test('an organisation that is being erased cannot be resumed, and the same command goes on; by default it exports to DATA_DIR', async () => {
  const DATA_DIR = await newFolder();
  const own = commandLine({ DATA_DIR });
  const { id, name } = await makeOrganisation(own);
  for (const confirm of [['--confirm', 'Other'], []]) await own.failed(2, 'org', 'erase', id, ...confirm);
  const life = ['--name', 'K', '--scopes', 'all'];
  const key = await own.json<{ id: string }>('key', 'create', '--org', id, ...life);
  const rows = bare.db(own.controlDatabase).collection<{ _id: string }>('organisations');
  await rows.updateOne({ _id: id }, { $set: { state: 'erasing' } });
  expect(await own.failed(1, 'org', 'resume', id)).toContain(
    'is being erased; to finish that, run scopegate org erase',
  );
  // without advice to create a key, which is refused as well
  expect(await own.failed(1, 'key', 'rotate', key.id)).toMatch(/which is being erased, so it cannot be rotated$/m);
  expect(await own.json('org', 'show', id)).toMatchObject({ state: 'erasing' });
  const folder = join(DATA_DIR, 'erased', id);
  const erase = () => own.json('org', 'erase', id, '--confirm', name);
  expect(await erase()).toEqual({ id, erased: true, export: folder });
  expect((await readdir(folder)).sort()).toEqual((await readdir(NORTHWIND)).sort());
  // what a killed attempt could have left
  expect(await erase()).toEqual({ id, erased: true, export: null });
});

test('org erase replaces no export of a former organisation with the same id, and then changes nothing', async () => {
  const DATA_DIR = await newFolder();
  const own = commandLine({ DATA_DIR });
  const { id, name } = await makeOrganisation(own);
  const folder = join(DATA_DIR, 'erased', id);
  await own.json('export', '--org', id, folder);
  await writeFile(join(folder, 'customers.ndjson'), 'of the former one');
  const said = await own.failed(1, 'org', 'erase', id, '--confirm', name);
  expect(said).toContain(`${folder} already has `);
  expect(said).toContain('Nothing was changed; --export DIR exports to another folder');
  expect(await own.json('org', 'show', id)).toMatchObject({ state: 'active' });
  expect(await readFile(join(folder, 'customers.ndjson'), 'utf8')).toBe('of the former one');
});

test.each([
  ['replaces what a killed attempt exported', 0, true, undefined],
  ['replaces no export of a former organisation with the same id', 1, false, undefined],
  ['replaces no export whose organisation.json cannot be read', 0, false, '{'],
])('org erase, run again, %s', async (_title, age, isReplaced, file) => {
  const DATA_DIR = await newFolder();
  const own = commandLine({ DATA_DIR });
  const { id, name, created_at } = await makeOrganisation(own);
  const folder = join(DATA_DIR, 'erased', id);
  await own.json('export', '--org', id, folder);
  await writeFile(join(folder, 'customers.ndjson'), 'of before');
  if (file !== undefined) await writeFile(join(folder, 'organisation.json'), file);
  const rows = bare.db(own.controlDatabase).collection<{ _id: string }>('organisations');
  const created = new Date(Date.parse(created_at) + age);
  await rows.updateOne({ _id: id }, { $set: { state: 'erasing', created_at: created } });
  const args = ['org', 'erase', id, '--confirm', name] as const;
  if (isReplaced) await own.json(...args);
  else expect(await own.failed(1, ...args)).toContain(`${folder} already has `);
  expect((await readFile(join(folder, 'customers.ndjson'), 'utf8')) === 'of before').toBe(!isReplaced);
});

test('the audit log of an organisation that never existed is an error, that of an erased one is shown', async () => {
  const { id } = await makeOrganisation(cli, 'Short');
  await cli.json('org', 'erase', id, '--confirm', 'Short', '--no-export');
  expect(await cli.json('audit', '--org', id)).toMatchObject([{ action: 'organisation.erased' }]);
  expect(await cli.json('audit', '--org', id, '--action', 'key.created')).toEqual([]);
  for (const options of [[], ['--since', '1d']]) {
    const said = await cli.failed(1, 'audit', '--org', NOBODY, ...options, '--json');
    expect(said).toContain(`organisation ${NOBODY} not found; see scopegate org list`);
  }
});

test('audit --since shows what was repeated since, with how often in all', async () => {
  const { id } = await makeOrganisation(cli, 'Repeated');
  const minutes = (ago: number): Date => new Date(Date.now() - ago * 60_000);
  const row = (at: Date, more: object) => {
    const members = { organisation_id: id, key_id: null, details: {}, action: 'user.signed_in' };
    return { _id: randomUUID() as string, ...members, actor: { who: 'user:link:Ann', from: 'here' }, at, ...more };
  };
  const rows = bare.db(cli.controlDatabase).collection<{ _id: string }>('audit_events');
  await rows.insertMany([
    row(minutes(20), { times: 1, last_at: minutes(20) }),
    row(minutes(50), { times: 7, last_at: minutes(10) }),
    row(minutes(60), { times: 2, last_at: minutes(40) }),
    row(minutes(61), {}),
  ]);
  const events = await cli.json<{ times: number }[]>('audit', '--org', id, '--since', minutes(30).toISOString());
  expect(events.map(({ times }) => times)).toEqual([1, 1, 7]);
});

test('audit says when there are more events than --limit shows', async () => {
  const { id } = await makeOrganisation(cli, 'One');
  await cli.json('org', 'rename', id, 'Two');
  const [cut, whole] = [
    await cli.run('audit', '--org', id, '--limit', '1', '--json'),
    await cli.run('audit', '--org', id, '--limit', '2', '--json'),
  ];
  expect([cut, whole].map(({ stdout }) => (JSON.parse(stdout) as unknown[]).length)).toEqual([1, 2]);
  expect(cut.stderr).toContain('Only the newest 1 are shown; there are more: see --limit');
  expect(whole.stderr).not.toContain('--limit');
});

describe('signing users in and out', () => {
  test('org link prints a link based on PUBLIC_URL, valid for 15 minutes, for an admin by default', async () => {
    const { id, name, plan } = await makeOrganisation(cli);
    const link = await cli.json<{ expires_at: string }>('org', 'link', '--org', id);
    expect(link).toEqual({
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:4000\/settings\/sign-in\?link=[\w-]{43}$/) as string,
      role: 'admin',
      expires_at: expect.any(String) as string,
      organisation: { id, name, plan },
    });
    const minutes = (Date.parse(link.expires_at) - Date.now()) / 60_000;
    expect(minutes).toBeGreaterThan(13);
    expect(minutes).toBeLessThanOrEqual(15);

    const assumed = await cli.run('org', 'link', '--org', id);
    expect(assumed.stderr).toContain(
      'PUBLIC_URL is not set, so the link is for a gateway at http://127.0.0.1:4000 (HOST and PORT)',
    );

    const elsewhere = commandLine({ PUBLIC_URL: 'https://keys.example', CONTROL_DATABASE: cli.controlDatabase });
    const member = await elsewhere.run('org', 'link', '--org', id, '--role', 'member', '--name', 'Ann Lee');
    expect(member).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^https:\/\/keys\.example\/settings\/sign-in\?link=[\w-]{43}\n$/),
      stderr: expect.stringMatching(/signs Ann Lee in to Northwind Traders as member, once/),
    });
    expect(member.stderr).not.toContain('PUBLIC_URL');
  });

  test('org sign-out prints how many sessions it ended, and is audited', async () => {
    const { id } = await makeOrganisation(cli);
    await cli.json('org', 'link', '--org', id, '--name', 'Ann Lee');
    expect(await cli.json('org', 'sign-out', '--org', id, '--user', 'user:link:Ann Lee')).toEqual({ ended: 0 });
    const events = await cli.json<object[]>('audit', '--org', id);
    expect(events.slice(0, 2)).toMatchObject([
      { action: 'user.signed_out', details: { everywhere: 'link:Ann Lee', sessions: 0 } },
      { action: 'link.created', details: { user: 'link:Ann Lee', role: 'admin' } },
    ]);
  });
});
