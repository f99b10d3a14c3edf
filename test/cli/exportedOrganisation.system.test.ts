import { hkdfSync } from 'node:crypto';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { databaseName } from '../../src/mongo/databaseNames';
import { eventually } from '../api/http/eventually';
import { client, type Json } from '../support/client';
import { driver, late, startGateway } from '../support/gateway';
import { startReceiver } from '../support/receiver';
import { commandLine, makeKey, newFolder, NORTHWIND } from './commandLine';

/* An organisation is exported, erased, and brought back with its id, in the sight of a gateway that knew it. */

const environment = { WEBHOOK_SECRET: 'a master secret of webhooks, for tests', WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };
const ANOTHER = 'another master secret of webhooks, for tests';
const cli = commandLine(environment);
const others = commandLine({ ...cli.environment, WEBHOOK_SECRET: ANOTHER });
const bare = driver();
const receiver = late(startReceiver);
const gateway = late(() => startGateway({ ...cli.environment, EVENTS: 'on' }));
afterAll(() => Promise.all([receiver.stop(), gateway.stop()]));

test('export, org erase, org create --id and import give integrators the same organisation, and its readers feed.gap', async () => {
  const org = await cli.json<Json>('org', 'create', '--name', 'Äcme', '--currency', 'EUR', '--external-ref', 'acme-1');
  const { id } = org as { id: string };
  const control = bare.db(cli.controlDatabase);
  // as if an earlier version had moved it to another cluster
  await control.collection<{ _id: string }>('organisations').updateOne({ _id: id }, { $set: { 'feed.epoch': 1 } });
  const folder = await newFolder();
  await writeFile(
    join(folder, 'products.ndjson'),
    (await readFile(join(NORTHWIND, 'products.ndjson'), 'utf8')).split('\n')[0]!,
  );
  await cli.json('import', '--org', id, join(folder, 'products.ndjson'));
  const { key } = await makeKey(cli, id);
  const caller = client(gateway, key);
  const endpoints = async () => cli.json<Json[]>('webhook', 'list', '--org', id);
  const { id: endpoint, secret } = await cli.json<Json>('webhook', 'create', '--org', id, '--url', receiver.url);
  await eventually(async () => (await bare.db(databaseName(id)).collection('events').countDocuments()) > 0);
  const { body: before } = await caller.get('/events', { after: 'now' });
  await cli.json('org', 'suspend', id);

  const exported = join(folder, 'export');
  const { stderr } = await cli.run('export', '--org', id, exported, '--webhooks', '--keys');
  expect(stderr).toContain('not in the export: events and deliveries of webhooks, members, invitations and sessions, ');
  expect(stderr).not.toContain('--webhooks');
  const file = JSON.parse(await readFile(join(exported, 'organisation.json'), 'utf8'));
  expect(file).toEqual({
    id,
    name: 'Äcme',
    plan: 'integrations',
    currency: 'EUR',
    external_ref: 'acme-1',
    created_at: org.created_at,
    state: 'suspended',
  });
  expect(await readFile(join(exported, 'webhooks.ndjson'), 'utf8')).not.toContain('whsec');

  const create = ['org', 'create', '--name', 'New', '--id', id];
  expect(await cli.failed(1, ...create)).toContain(`organisation ${id} exists already`);
  const elsewhere = commandLine(environment);
  expect(await elsewhere.failed(1, ...create)).toContain(`the database ${databaseName(id)} exists already`);
  await cli.json('org', 'erase', id, '--confirm', 'Äcme', '--no-export');
  expect(await cli.failed(1, ...create)).toContain('was erased less than two minutes ago');
  await control.collection('audit_events').updateMany({ organisation_id: id }, { $set: { at: new Date(0) } });
  expect(await cli.json(...create)).toMatchObject({ id, name: 'New', external_ref: null });

  const load = ['import', '--org', id, exported, '--organisation', '--keys', '--webhooks', '--stamp', 'file'];
  expect(await others.failed(1, ...load)).toContain(
    `webhooks.ndjson:1: the secret of endpoint ${endpoint as string} is derived from another WEBHOOK_SECRET`,
  );
  expect(await cli.json('org', 'show', id)).toMatchObject({ name: 'New', stored_bytes: expect.any(Number) as number });
  const imported = await cli.run(...load);
  expect(imported).toMatchObject({ code: 0, stdout: expect.stringMatching(/^webhooks +1 +1 +0 +0 +0$/m) as string });
  expect(imported.stderr).toContain(`scopegate webhook enable ${endpoint as string}`);
  expect(imported.stderr).toContain('not imported: events and deliveries of webhooks');
  expect(await cli.json('org', 'show', id)).toMatchObject({
    ...org,
    state: 'suspended',
    stored_bytes: expect.any(Number) as number,
  });
  expect((await caller.get('/products')).status).toBe(403);
  await cli.json('org', 'resume', id);
  expect((await caller.get('/products')).body.data).toHaveLength(1);

  // a cursor of the former feed leads to the gap, and what the gateway knew of the former database is no substitute for indexes
  const [first] = await eventually(async () => {
    const { body } = await caller.get('/events', { after: before.next_cursor as string });
    return (body.data as Json[]).length > 0 ? (body.data as Json[]) : undefined;
  });
  expect(first).toMatchObject({ type: 'feed.gap', object: null });
  // not that of a collection that was dropped, which the gateway may have seen late
  expect(Date.parse(first?.gap.from as string)).toBeLessThan(Date.now() - 29 * 86_400_000);
  expect(await bare.db(databaseName(id)).collection('events').indexes()).toContainEqual(
    expect.objectContaining({ expireAfterSeconds: expect.any(Number) as number }),
  );

  // nothing was posted, and the receiver knows the secret of what is
  expect(await endpoints()).toMatchObject([{ id: endpoint, state: 'disabled', disabled_reason: 'by_hand' }]);
  const posted = receiver.arrived.length;
  await cli.json('webhook', 'enable', endpoint as string);
  const { body, headers, event } = await eventually(() => receiver.arrived[posted]);
  expect(event.type).toBe('feed.gap');
  expect(new Webhook(secret as string).verify(body, headers)).toMatchObject({ type: 'feed.gap' });
  const again = await cli.json<Json>('import', '--org', id, exported, '--keys', '--webhooks');
  expect(again).toMatchObject({ files: { keys: { unchanged: 1 }, webhooks: { unchanged: 1 } } });
  expect(await endpoints()).toMatchObject([{ state: 'enabled' }]);

  // a copy beside it has another id: neither the external_ref nor the endpoint can be there twice
  const { id: copy } = await cli.json<{ id: string }>('org', 'create', '--name', 'Copy');
  const beside = await cli.run('import', '--org', copy, exported, '--organisation', '--webhooks', '--json');
  expect(beside.stderr).toContain(`the external_ref acme-1 is not taken over: organisation ${id} has it`);
  expect(beside).toMatchObject({ code: 1 });
  expect(JSON.parse(beside.stdout)).toMatchObject({ errors: [{ file: 'webhooks.ndjson', line: 1, code: 'conflict' }] });
  expect(await cli.json('org', 'show', copy)).toMatchObject({ name: 'Äcme', external_ref: null });
  expect(await cli.failed(1, 'org', 'create', '--name', 'Other', '--external-ref', 'acme-1')).toContain(
    'another organisation has this external_ref',
  );
});

test('import --webhooks names the lines that are invalid, needs the file and the secret, and takes no more than 20 endpoints', async () => {
  const { id: org } = await cli.json<{ id: string }>('org', 'create', '--name', 'Lines');
  const folder = await newFolder();
  const load = (by = cli) => by.run('import', '--org', org, folder, '--webhooks', '--json');
  await writeFile(join(folder, 'products.ndjson'), '');
  expect((await load()).stderr).toContain('webhooks.ndjson; export with --webhooks, or import without it');
  const { id } = await cli.json<{ id: string }>('webhook', 'create', '--org', org, '--url', receiver.url);
  await cli.json('export', '--org', org, join(folder, 'one'), '--webhooks');
  await cli.json('webhook', 'delete', id);
  const line = JSON.parse(await readFile(join(folder, 'one', 'webhooks.ndjson'), 'utf8'));
  const ofSome = { id: crypto.randomUUID(), customer_ids: [crypto.randomUUID()] };
  const lines = [
    'no json',
    JSON.stringify({ ...line, version: 0 }),
    JSON.stringify({ ...line, types: ['order.sung'] }),
    JSON.stringify({ ...line, url: 'https://10.0.0.1/' }),
    JSON.stringify({ ...line, customer_ids: [] }),
    JSON.stringify({ ...line, ...ofSome }),
    ...Array.from({ length: 20 }, () => JSON.stringify({ ...line, id: crypto.randomUUID() })),
  ];
  // whoever imports has another secret than the endpoints that are here
  const check = Buffer.from(hkdfSync('sha256', ANOTHER, 'scopegate webhooks', 'fingerprint', 16)).toString('base64');
  await writeFile(join(folder, 'webhooks.ndjson'), JSON.stringify({ ...line, master: check }));
  await copyFile(join(NORTHWIND, 'products.ndjson'), join(folder, 'products.ndjson'));
  expect(await load(others)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/does not match the existing webhook endpoints.*; nothing was stored\n$/),
  });
  expect(await bare.db(databaseName(org)).collection('products').countDocuments()).toBe(0);
  await writeFile(join(folder, 'products.ndjson'), '');

  await writeFile(join(folder, 'webhooks.ndjson'), lines.join('\n'));
  const unset = commandLine({ CONTROL_DATABASE: cli.controlDatabase });
  expect((await load(unset)).stderr).toContain('WEBHOOK_SECRET is not set');
  const { code, stdout } = await load();
  expect(code).toBe(1);
  expect(JSON.parse(stdout)).toMatchObject({
    files: { webhooks: { read: 26, created: 20, failed: 6 } },
    errors: [
      { line: 1, code: 'invalid' },
      { line: 2, pointer: '/version', code: 'invalid' },
      { line: 3, pointer: '/types/0', code: 'not_allowed' },
      { line: 4, pointer: '/url', code: 'not_allowed' },
      { line: 5, pointer: '/customer_ids', code: 'invalid' },
      { line: 26, code: 'too_many' },
    ],
  });
  // what was for some customers still is, and goes with its organisation
  expect(await cli.json<Json[]>('webhook', 'list', '--org', org)).toContainEqual(expect.objectContaining(ofSome));
  await cli.json('export', '--org', org, join(folder, 'all'), '--webhooks');
  expect(await readFile(join(folder, 'all', 'webhooks.ndjson'), 'utf8')).toContain(JSON.stringify(ofSome.customer_ids));
  await cli.json('org', 'erase', org, '--confirm', 'Lines', '--no-export');
  const left = { url: receiver.url, types: [], state: 'disabled' };
  expect(await bare.db(cli.controlDatabase).collection('webhook_endpoints').find(left).toArray()).toEqual([]);
});
