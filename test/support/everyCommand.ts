import { setTimeout as sleep } from 'node:timers/promises';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import mongoose from 'mongoose';
import type { Command } from '../../faults/databaseProxy';
import type { Organisation } from '../../src/auth/principal';
import type { OrganisationData } from '../../src/tenant/organisationData';
import { databaseName } from '../../src/mongo/databaseNames';
import type { EventRow } from '../../src/events/collection';
import { openWrites } from '../../src/tenant/slots';
import { DAY } from '../../src/units';
import { commandLine, followed, NORTHWIND } from '../cli/commandLine';
import { eventRow } from './fixtures/events';
import { IDS, makeStocked } from './fixtures/contract';
import { eventually } from '../api/http/eventually';
import { sendForm, signIn } from '../admin/settings/people';
import type { Json } from './client';
import { callerOf, northwind, store } from './factories';
import { startGateway, type TestGateway } from './gateway';
import { raw } from '../api/http/raw';
import { officeOf } from '../api/webhooks/office';
import { startReceiver } from './receiver';
import { argumentsOf, CALLS, documentOf, RELATIONS, userArguments, userOperations } from './operations';
import { RESOURCES } from './resources';
import { threadRecord } from './threads';
import { recordCommands } from './recordedCommands';

const CONTROL_DATABASE = 'scopegate_every';
const WEBHOOKS = { WEBHOOK_SECRET: 'a master secret of webhooks, for tests', WEBHOOK_ALLOWED_RANGES: '127.0.0.0/8' };

/**
 * Runs everything that sends commands to the database, and returns the commands from the wire: all operations in both APIs,
 * the settings page, background writes, and the command line.
 */
export async function everyCommand(): Promise<Command[]> {
  const { proxy, sent } = await recordCommands();
  try {
    const gateway = await startGateway({ ...WEBHOOKS, MONGODB_URI: proxy.uri, CONTROL_DATABASE, EVENTS: 'on' });
    try {
      await callEverything(gateway);
    } finally {
      // flushes key usage and last uses
      await gateway.stop();
    }
    await runEveryCommand(proxy.uri);
  } finally {
    await proxy.close();
  }
  return sent;
}

async function callEverything(gateway: TestGateway): Promise<void> {
  const organisation = await makeStocked(gateway);
  const caller = await callerOf(gateway, organisation);
  for (const { operation, face } of CALLS) {
    const isWrite = operation.kind === 'Mutation';
    const args = argumentsOf(operation, IDS, 'dry_run' in argumentsOf(operation, IDS) ? { dry_run: false } : {});
    const again = { 'idempotency-key': randomUUID() };
    for (const headers of isWrite ? [{}, again, again] : [{}]) await face.call(caller, operation, args, headers);
  }
  for (const { document, operation } of RELATIONS) {
    await caller.graphql(document, { id: argumentsOf(operation, IDS).id });
  }
  await caller.graphql('{ customers { data { quotes(limit: 1) { data { id } next_cursor } } } }');
  for (const { list } of RESOURCES) {
    const query = { updated_since: '1970-01-01T00:00:00Z', sort: 'updated_at', limit: 1 };
    const { body } = await caller.get(`/${list}`, query);
    await caller.get(`/${list}`, { ...query, ...(body.next_cursor && { cursor: body.next_cursor }) });
    await caller.get(`/${list}`, { ...query, q: 'a b' });
  }
  await caller.get('/quotes', { status: ['sent', 'draft'], limit: 1 });
  await caller.get('/customers', { email: 'ann@mill.example' });
  await caller.graphql('{ order_totals(group_by: [CUSTOMER], status: [placed], sort: "-count") { data { count } } }');
  // until the changes above are recorded, and one that waits
  await eventually(async () => ((await caller.get('/events')).body.data?.length > 0 ? true : undefined), 30_000);
  const { body: feed } = await caller.get('/events', { limit: 100, types: 'quote.created' });
  await caller.get('/events', { after: feed.next_cursor, types: 'quote.deleted', wait: 1 });
  await caller.get('/events', { after: 'now' });
  // a thread imported again with a message removed
  const thread = threadRecord(['one', 'two']);
  await store(gateway, organisation, { requests: [thread] });
  await store(gateway, organisation, { requests: [{ ...thread, messages: (thread.messages as Json[]).slice(1) }] });
  // a failed write, and the row of a crashed gateway
  const data = gateway.databases.organisationData(organisation);
  const transaction: OrganisationData['transaction'] = data.transaction.bind(data);
  data.transaction = () => Promise.reject(new Error('it fails'));
  await caller.post('/requests', { text: 'never stored' });
  data.transaction = transaction;
  await leaveOpenWrite(organisation);
  // orders that totals leave out, since another program stored them wrongly
  const wrong = { total_minor: 0.5, 'lines.0.qty': 'many' };
  await data.database.collection('orders').updateMany({}, { $set: wrong }, { bypassDocumentValidation: true });
  await caller.graphql('{ order_totals { data { count } } product_sales { data { net_minor } } }');
  await caller.get('/products', { updated_since: '1970-01-01T00:00:00Z' });
  await useWebhooks(gateway, organisation);
  await useSettings(gateway, organisation);
}

async function useSettings(gateway: TestGateway, organisation: Organisation): Promise<void> {
  const admin = await signIn(gateway, organisation);
  const { api_key: made } = await admin.call('create_key', { name: 'made', scopes: ['quotes:read'] });
  for (const operation of userOperations) {
    await admin.graphql(documentOf(operation), userArguments(operation, String(made.id)));
  }
  await sendForm(gateway, '/settings/sign-out', { csrf: admin.csrf }, { cookie: admin.cookie });
}

/** An endpoint that accepts, then fails, then is deleted. */
async function useWebhooks(gateway: TestGateway, organisation: Organisation): Promise<void> {
  const { admin } = await officeOf(gateway, organisation);
  let status = 204;
  const receiver = await startReceiver(() => status);
  const { endpoint } = await admin('create_webhook', { url: receiver.url, types: ['request.created'] });
  const { id } = endpoint;
  const event = () => store(gateway, organisation, { requests: [threadRecord(['webhook'])] });
  const until = (state: string) =>
    eventually(async () => (await admin('webhook_deliveries', { webhook_id: id, state })).data?.[0], 30_000);
  await event();
  const delivered = await until('delivered');
  status = 500;
  await event();
  await until('waiting');
  await admin('enable_webhook', { webhook_id: id, from: new Date(Date.now() - DAY).toISOString() });
  await admin('enable_webhook', { webhook_id: id });
  await admin('update_webhook', { webhook_id: id, types: [] });
  await admin('rotate_webhook', { webhook_id: id });
  await admin('resend_event', { webhook_id: id, delivery: delivered.id });
  await admin('webhook_deliveries', { webhook_id: id });
  await admin('webhook_statistics', { period: 'last_24h' });
  await raw(gateway.url, '/metrics', {});
  // only an endpoint that does not fail is woken, and an organisation without any is cached as such for some seconds
  status = 204;
  await admin('enable_webhook', { webhook_id: id });
  const rows = gateway.databases.control.db!.collection<{ _id: string; wakes: number }>('webhook_endpoints');
  const wakes = async (): Promise<number> => (await rows.findOne({ _id: id }))?.wakes ?? 0;
  const before = await wakes();
  await eventually(async () => {
    await event();
    await sleep(1000);
    return (await wakes()) > before;
  }, 60_000);
  await admin('disable_webhook', { webhook_id: id });
  await admin('delete_webhook', { webhook_id: id });
  await receiver.stop();
}

function leaveOpenWrite({ id }: Organisation): Promise<void> {
  return bypassing(async (server) => {
    const rows = server.useDb(databaseName(id)).collection(openWrites.name);
    await rows.insertOne({ _id: randomUUID() as never, since: new Date(0) });
  });
}

/** A collection as an earlier version left it. */
function leaveEarlier(id: string): Promise<void> {
  return bypassing(async (server) => {
    const database = server.useDb(databaseName(id));
    await database.collection('quotes').createIndexes([{ key: { number: 1, _id: 1 } }]);
    await database.db!.command({ collMod: 'quotes', validator: {}, validationLevel: 'off' });
  });
}

/** Does what the product itself does not do, bypassing the proxy. */
async function bypassing(work: (server: mongoose.Connection) => Promise<void>): Promise<void> {
  const server = await mongoose.createConnection(process.env.TEST_MONGODB_URI!).asPromise();
  await work(server);
  await server.close();
}

const nameOfCustomer = String(northwind('customers').find(({ id }) => id === IDS.customer)?.name);

async function runEveryCommand(uri: string): Promise<void> {
  const cli = commandLine({ ...WEBHOOKS, MONGODB_URI: uri });
  const { id: org } = await cli.json<{ id: string }>('org', 'create', '--name', 'Every');
  const key = await cli.json<{ id: string }>('key', 'create', '--org', org, '--name', 'one', '--scopes', 'all');
  const { id: rotated } = await cli.json<{ id: string }>('key', 'rotate', key.id);
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-every-'));
  await cli.json('import', '--org', org, NORTHWIND);
  await leaveEarlier(org);
  await bypassing(async (server) => {
    await server.useDb(databaseName(org)).collection<EventRow>('events').insertOne(eventRow(0));
  });
  const tail = followed(cli, ['events', 'tail', '--org', org, '--since', '1d']);
  await tail.until(1);
  await tail.end('SIGINT');
  for (const args of [
    ['key', 'revoke', rotated],
    ['key', 'list', '--org', org],
    ['webhook', 'create', '--org', org, '--url', 'https://example.com/hook'],
    ['webhook', 'list', '--org', org],
    ['org', 'list'],
    ['org', 'set-plan', org, 'enterprise'],
    ['org', 'link', '--org', org, '--role', 'admin'],
    ['org', 'sign-out', '--org', org],
    ['import', '--org', org, NORTHWIND],
    ['export', '--org', org, join(folder, 'export')],
    ['audit', '--org', org, '--since', '1d'],
    ['logs', '--org', org],
    ['logs', '--request-id', 'none'],
    ['export', '--org', org, join(folder, 'with keys'), '--keys'],
    ['import', '--org', org, join(folder, 'with keys'), '--keys'],
    ['customer', 'erase', IDS.customer, '--org', org, '--confirm', nameOfCustomer],
    ['org', 'show', org],
    ['org', 'rename', org, 'Renamed'],
    ['org', 'suspend', org],
    ['org', 'resume', org],
    ['doctor', '--fix'],
    ['doctor', '--rows'],
    ['org', 'erase', org, '--confirm', 'Renamed', '--export', join(folder, 'erased')],
  ]) {
    await cli.json(...args);
  }
  await rm(folder, { recursive: true });
}
