import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseDatabase } from '../../src/embedded';
import { eventually } from '../api/http/eventually';
import { type CommandLine, commandLine } from '../cli/commandLine';
import { type Client, client, type Json } from '../support/client';
import { makeKey, makeOrganisation, northwind, store } from '../support/factories';
import { metric, startGateway, type TestGateway } from '../support/gateway';
import { startReceiver, stopReceivers } from '../support/receiver';

/*
 * A database server is stopped, its folder replaced by a copy that was made before, and started again: a restore to a point in time, while
 * gateways run that record events.
 */

const SOON = 60_000;
const WEBHOOKS = { WEBHOOK_SECRET: 'a master secret of webhooks for tests', WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };

let folder: string;
let server: Awaited<ReturnType<typeof start>>;
const gateways: TestGateway[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scopegate-restored-'));
});
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop();
  await stopReceivers();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Starts the server of the folder, on the same port each time. */
const start = () =>
  chooseDatabase({
    MONGOD_BINARY: process.env.MONGOD_BINARY,
    DATA_DIR: join(folder, 'data'),
    CACHE_DIR: join(__dirname, '../../.cache'),
    report: () => undefined,
  });

const served = (gateway: TestGateway): Promise<unknown> =>
  eventually(async () => (await fetch(`${gateway.url}/readyz`)).status === 200, SOON);

/** The lines of audit events that gateways have logged. */
const linesOf = (gateways: readonly TestGateway[]): Record<string, unknown>[] =>
  gateways.flatMap(({ logs }) => logs.filter(({ msg }) => msg === 'audit event'));

const isOf = (details: unknown, endpoint: string): boolean => (details as { endpoint?: string }).endpoint === endpoint;

/** Reads a feed on from a cursor until it has a gap, and resolves with that. */
async function gapAfter(caller: Client, cursor: string): Promise<Json> {
  let after = cursor;
  return eventually(async () => {
    const { status, body } = await caller.get('/events', { after });
    if (status !== 200) return undefined;
    after = body.next_cursor;
    return body.data.find(({ type }: Json) => type === 'feed.gap');
  }, SOON);
}

async function warningOf(cli: CommandLine): Promise<Json> {
  const { stdout } = await cli.run('doctor', '--json');
  return JSON.parse(stdout).checks.find(({ name }: Json) => name === 'restore');
}

test('after a restore every consumer gets a gap, and what the log says was revoked is revoked again', async () => {
  server = await start();
  const environment = { MONGODB_URI: server.uri, CONTROL_DATABASE: 'scopegate', EVENTS: 'on', ...WEBHOOKS };
  for (let count = 0; count < 2; count += 1) gateways.push(await startGateway(environment));
  const [gateway] = gateways as [TestGateway];
  const cli = commandLine(environment);
  const files = { products: northwind('products').slice(0, 2), customers: northwind('customers').slice(0, 2) };
  const [one, idle, suspended, gone] = await Promise.all(
    ['One', 'Idle', 'Suspended', 'Gone'].map((name) => makeOrganisation(gateway, { name })),
  );
  for (const organisation of [one!, idle!]) await store(gateway, organisation, files);
  const [reading, revoked, changed, replaced, idling, barred, twice] = await Promise.all(
    [one!, one!, one!, one!, idle!, suspended!, one!].map((organisation) => makeKey(gateway, organisation)),
  );
  const hour = 3_600_000;
  const replacement = await gateway.control.apiKeys.rotate(twice!.id, { overlap: hour });
  const [caller, idler] = [client(gateway, reading!.key), client(gateway, idling!.key)];
  const receiver = await startReceiver();
  const endpoints: { id: string }[] = [];
  for (const path of ['kept', 'deleted', 'address', 'leaked', 'failed'])
    endpoints.push(await cli.json('webhook', 'create', '--org', one!.id, '--url', `${receiver.url}/${path}`));
  await gateway.control.sessions.start(
    { organisationId: one!.id, user: { id: 'link:Ann', name: 'Ann' }, role: 'admin' },
    '-',
  );

  await server.stop();
  await cp(join(folder, 'data'), join(folder, 'backup'), { recursive: true });
  server = await start();
  for (const each of gateways) await served(each);

  const made = { sku: randomUUID(), name: 'Undone' };
  expect((await caller.post('/products/bulk', { products: [made] })).status).toBe(200);
  await cli.json('key', 'revoke', revoked!.id);
  await gateway.control.apiKeys.update(changed!.id, { scopes: ['products:read'] });
  await gateway.control.apiKeys.rotate(replaced!.id, { overlap: 0 });
  await gateway.control.organisations.suspend(suspended!.id);
  await gateway.control.organisations.suspend(idle!.id);
  await gateway.control.organisations.resume(idle!.id);
  await cli.json('org', 'erase', gone!.id, '--confirm', 'Gone', '--no-export');
  const erased = files.customers as unknown as { id: string; external_ref: string; name: string }[];
  const [{ id: customerId }, back] = erased as [(typeof erased)[0], (typeof erased)[0]];
  for (const { id, name } of erased) await cli.json('customer', 'erase', id, '--org', one!.id, '--confirm', name);
  await cli.json('customer', 'readmit', back.id, '--org', one!.id);
  await cli.json('org', 'sign-out', '--org', one!.id, '--user', 'link:Ann');
  await gateway.control.apiKeys.revoke(replacement!.document._id);
  await gateway.control.apiKeys.update(twice!.id, { scopes: ['products:read'] });
  await gateway.control.apiKeys.rotate(twice!.id, { overlap: 0 });
  const { webhooks } = gateway.control;
  const [kept, deleted, address, leaked, failed] = endpoints.map(({ id }) => id) as [string, ...string[]];
  const actor = { actor: { who: 'cli:test', from: '-' } };
  await webhooks.update(address!, { url: `${receiver.url}/new` }, actor);
  await webhooks.rotate(leaked!, (await webhooks.find(leaked!, {}))!.master!, actor);
  await webhooks.enable(leaked!, undefined, actor, () => Promise.resolve());
  await webhooks.disable(failed!, 'failures', actor);
  await cli.json('webhook', 'delete', deleted!);
  const cursors = await Promise.all(
    [caller, idler].map((each) =>
      eventually(async () => {
        const { body } = await each.get('/events', { limit: 100 });
        const isRead = each === idler || body.data.some(({ type }: Json) => type === 'customer.erased');
        return isRead && (body.next_cursor as string);
      }, SOON),
    ),
  );
  const lines = await eventually(() => {
    const all = linesOf(gateways);
    return all.some(({ action }) => action === 'webhook.deleted') ? all : undefined;
  }, SOON);
  // ids, and neither names nor addresses
  expect(JSON.stringify(lines)).not.toMatch(/Gone|svc_|http:|"from"/);
  expect(lines.find(({ action }) => action === 'key.revoked')).toMatchObject({ key_id: revoked!.id, details: {} });

  await server.stop();
  await rename(join(folder, 'data'), join(folder, 'lost'));
  await cp(join(folder, 'backup'), join(folder, 'data'), { recursive: true });
  server = await start();
  for (const each of gateways) await served(each);

  // the gateways remember how far events were recorded
  for (const [each, cursor] of [[caller, cursors[0]!] as const, [idler, cursors[1]!] as const]) {
    const { gap } = await gapAfter(each, cursor);
    expect(gap.from).toBe(gap.to);
  }
  await eventually(() => receiver.arrived.some(({ event }) => event.type === 'feed.gap'), SOON);
  const noticed = gateways.flatMap(({ logs }) =>
    logs.filter(({ msg }) => String(msg).startsWith('the database was restored')),
  );
  expect(noticed).toHaveLength(1);
  const { since } = noticed[0] as { since: string };
  const counts = await Promise.all(gateways.map((each) => metric(each, 'scopegate_database_restores_total')));
  expect(counts.toSorted()).toEqual([0, 1]);
  expect((await warningOf(cli)).fix).toContain(`scopegate restored --since ${since} --replay`);
  // everything is as it was
  expect((await caller.get('/products', { sku: made.sku })).body.data).toEqual([]);
  const answers = async (): Promise<number[]> =>
    Promise.all(
      [revoked!, replaced!, barred!].map(async ({ key }) => (await client(gateway, key).get('/products')).status),
    );
  expect(await answers()).toEqual([200, 200, 200]);

  const log = join(folder, 'log');
  const others = ['not JSON', '{"msg":"audit event","action":"key.revoked"}', '{"msg":"request"}'];
  // out of order, twice, and with what collects logs puts before a line
  const shuffled = [...lines, ...lines]
    .reverse()
    .map((line) => `2026-11-29T00:00:00Z stderr F ${JSON.stringify(line)}`);
  await writeFile(log, [...others, ...shuffled].join('\n'));
  const args = ['restored', '--since', since, '--replay', log];
  expect(await cli.failed(2, 'restored', '--since', '2h', '--dry-run')).toContain('an age would mean another time');
  const dry = await cli.json<Json>(...args, '--dry-run');
  expect(dry).toMatchObject({ gap: { state: 'before' }, lines: { malformed: 1 } });
  expect(dry.steps).toContainEqual(expect.objectContaining({ kind: 'revoke', due: 2, done: 0 }));
  expect(dry.objects).toContainEqual({
    kind: 'revoke',
    organisation_id: one!.id,
    id: revoked!.id,
    outcome: 'due',
  });
  expect(await answers()).toEqual([200, 200, 200]);
  const asked = 'without --yes 1 organisation would not be erased again';
  expect((await cli.run(...args, '--dry-run')).stderr).toContain(asked);
  expect((await cli.run(...args, '--dry-run', '--yes')).stderr).not.toContain(asked);
  const { code, stderr } = await cli.run(...args, '--json');
  expect([code, stderr]).toEqual([1, expect.stringContaining('add --yes to erase again 1 organisation')]);
  expect(await answers()).toEqual([401, 401, 403]);
  expect((await idler.get('/products')).status).toBe(200);
  expect((await gateway.control.apiKeys.find(changed!.id))?.scopes).toEqual(['products:read']);
  const nameOf = async (id: string): Promise<string> => (await caller.get(`/customers/${id}`)).body.name;
  expect(await Promise.all([customerId, back.id].map(nameOf))).toEqual(['erased', 'erased']);
  const sentAgain = { external_ref: back.external_ref, name: 'Sent again' };
  expect((await caller.post('/customers/bulk', { customers: [sentAgain] })).body.updated).toBe(1);
  const disabled = async () =>
    (await webhooks.list(one!.id)).map((endpoint) => [endpoint._id, endpoint.disabled?.reason]);
  expect(await disabled()).toEqual([
    [kept, undefined],
    [address, 'by_hand'],
    [leaked, 'by_hand'],
    [failed, 'failures'],
  ]);
  // replaced before the backup, too, so that its expiry stays
  expect(await gateway.control.apiKeys.find(twice!.id)).toMatchObject({
    scopes: ['products:read'],
    revoked_at: expect.any(Date),
  });
  // somebody has looked
  await webhooks.enable(address!, undefined, actor, () => Promise.resolve());
  await webhooks.rotate(kept, (await webhooks.find(kept, {}))!.master!, actor);
  expect(await gateway.control.sessions.hasFrom({ organisationId: one!.id }, new Date())).toBe(false);

  const again = await cli.json<Json>(...args, '--yes');
  // what is so already is not listed
  expect(again.objects.filter(({ outcome }: Json) => outcome !== 'absent')).toEqual([
    { kind: 'erase', organisation_id: gone!.id, id: gone!.id, outcome: 'done' },
  ]);
  expect(again.steps.filter(({ done }: Json) => done > 0)).toEqual([
    expect.objectContaining({ kind: 'erase', done: 1 }),
  ]);
  // a log that goes on has what the replay did, too
  const goneOn = await eventually(() => {
    const all = linesOf(gateways);
    const isRead = all.some(({ action, details }) => action === 'webhook.rotated' && isOf(details, kept));
    return isRead && all.filter(({ action }) => action === 'customer.readmitted').length > 1 ? all : undefined;
  }, SOON);
  await writeFile(log, goneOn.map((line) => JSON.stringify(line)).join('\n'));
  expect((await cli.json<Json>(...args)).steps.filter(({ done }: Json) => done > 0)).toEqual([]);
  expect((await disabled()).slice(0, 2)).toEqual([
    [kept, undefined],
    [address, undefined],
  ]);
  expect(await nameOf(back.id)).toBe('Sent again');
  await eventually(async () => !(await gateway.control.organisations.find(gone!.id)), SOON);
  const unknownPlan = { action: 'organisation.plan_changed', details: { to: 'gold' } };
  await writeFile(log, JSON.stringify({ ...goneOn.at(-1), ...unknownPlan, organisation_id: one!.id }));
  expect(await cli.run(...args)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('its plan was gold, which must be one of starter, integrations'),
  });
  expect((await cli.json<Json[]>('audit', '--action', 'key.revoked'))[0]).toMatchObject({
    actor: { name: 'replay after a restore' },
  });
  expect(await warningOf(cli)).toBeUndefined();

  // by hand, as after a restore during which no gateway ran
  const { next_cursor: cursor } = (await caller.get('/events', { after: 'now' })).body;
  const byHand = ['restored', '--since', new Date(Date.parse(since) - 1000).toISOString()];
  expect(await cli.json(...byHand)).toMatchObject({ gap: { state: 'declared' }, lines: null });
  await gapAfter(caller, cursor);
  const gaps = await eventually(async () => {
    const { body } = await idler.get('/events', { limit: 100 });
    const found = body.data.filter(({ type }: Json) => type === 'feed.gap') as Json[];
    return found.length > 1 ? found : undefined;
  });
  expect(gaps).toHaveLength(2);
  expect(await cli.json(...byHand)).toMatchObject({ gap: { state: 'before' } });
});
