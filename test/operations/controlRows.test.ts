import { randomUUID } from 'node:crypto';
import { controlCollections, type ControlModels, createControlModels } from '../../src/organisations/models';
import { client } from '../support/client';
import { eventually } from '../api/http/eventually';
import { makeKey } from '../support/factories';
import { served, startGateway } from '../support/gateway';
import { signIn } from '../admin/settings/people';
import { allowed } from '../support/oauthApp';

/* Rows of the control database, and their schemas. */

jest.mock('../../src/organisations/delayedWriter', () => jest.requireActual<object>('../support/quickLoops'));

const CONTROL_DATABASE = 'scopegate_control_rows';
const gateway = served({ CONTROL_DATABASE });
let models: ControlModels;
beforeAll(() => {
  models = createControlModels(gateway.databases);
});

const ACTOR = { who: 'operator:test', from: 'here' };
const NEW = { name: 'New', plan: 'enterprise', currency: 'EUR' } as const;
const stored = (collection: string) =>
  gateway.databases.control.collection<{ readonly _id: string; readonly [member: string]: unknown }>(collection);

/** Stores rows in every collection. */
async function writeAll(): Promise<void> {
  await using other = await startGateway({ CONTROL_DATABASE });
  const { apiKeys, creations, feeds, invitations, jobs, moving, organisations, sandboxes, sessions, webhooks } =
    other.control;
  const organisation = await organisations.create({ ...NEW, external_ref: 'a ref', demo: true });
  const { id } = organisation;
  const { id: keyId, key } = await makeKey(other, organisation, { allowedRanges: ['127.0.0.0/8'] });
  await client(other, key).get('/products', { limit: 0 });
  await client(other, key).get('/orders', { limit: -1 });
  await apiKeys.rotate(keyId, { overlap: 1000 });
  const user = { id: 'link:Ann', name: 'Ann' };
  await sessions.makeLink({ organisationId: id, user, role: 'admin' }, ACTOR);
  const ann = await signIn(other, organisation, 'admin', 'Ann');
  const app = await allowed(other, ann);
  expect((await app.refresh((await app.exchange()).body.refresh_token)).status).toBe(200);
  await invitations.create({ organisationId: id, name: 'Bob', role: 'member', created_by: 'Ann' }, ACTOR);
  const hook = { organisationId: id, url: 'https://a.example/', types: [], position: '', created_by: 'Ann' };
  const attempt = { idempotencyKey: randomUUID(), onReplay: () => undefined };
  const endpoint = await creations.onceFor(ACTOR.who, attempt)(
    { organisationId: id, operation: 'create_webhook', args: {} },
    (noteId) => webhooks.create(hook, { actor: ACTOR }, noteId),
    () => Promise.reject(new Error('is new')),
  );
  await webhooks.create({ ...hook, customerIds: [randomUUID()] }, { actor: ACTOR });
  await webhooks.disable(endpoint!._id, 'by_hand', { actor: ACTOR });
  await feeds.oweGap(id, new Date());
  const { organisation: sandbox } = (await sandboxes.create({ of: id, willBeSeeded: true }, ACTOR))!;
  await moving.begin({ id: sandbox.id, mover: 'a mover' }, 'a shard');
  await jobs.findOrCreate({ kind: 'move', to: 'a shard', organisationId: sandbox.id }, ACTOR);
  // a gateway that stops has only seconds to write what it has gathered
  for (const gathered of ['request_log', 'key_usage'])
    await eventually(async () => (await stored(gathered).countDocuments()) > 0);
}

test('every row that is written is one that its schema allows', async () => {
  await writeAll();
  const all = Object.values(gateway.databases.control.models);
  expect(all).toHaveLength(controlCollections.length);
  for (const model of all) {
    const rows = await stored(model.collection.name).find().toArray();
    expect({ [model.modelName]: rows }).not.toEqual({ [model.modelName]: [] });
    // throws for members that the schema does not have
    for (const row of rows) await new model(row).validate();
  }
});

describe('a row that its schema forbids is refused, with the member named', () => {
  const row = () => ({ _id: randomUUID(), ...NEW, state: 'active', created_at: new Date() });
  const sets = (set: object) => models.organisations.updateMany({}, { $set: set });
  test.each<[string, string, () => PromiseLike<unknown>]>([
    ['a missing member', 'currency', () => models.organisations.create([{ ...row(), currency: undefined }] as never)],
    ['another value', 'plan', () => models.organisations.create([{ ...row(), plan: 'Gold' }] as never)],
    ['an unknown member', 'colour', () => models.organisations.create([{ ...row(), colour: 'red' }] as never)],
    ['another value in an update', 'state', () => sets({ state: 'gone' })],
    ['a missing member of an object in an update', 'move.mover', () => sets({ move: { to: 'a shard' } })],
    ['an unknown member in an update', 'colour', () => sets({ colour: 'red' })],
    ['an unknown member in a search', 'colour', () => models.organisations.find({ colour: 'red' } as never).lean()],
    [
      'another value in an upsert',
      'actor.from',
      () => models.auditEvents.updateOne({ _id: 'an id' }, { $setOnInsert: { actor: { who: 'x' } } }, { upsert: true }),
    ],
  ])('%s: %s', async (_what, member, write) => {
    await expect(Promise.resolve(write())).rejects.toThrow(member);
  });
});

test('rows of an earlier version, with other members and without some, are read, changed and kept', async () => {
  const [organisationId, keyId] = [randomUUID(), randomUUID()];
  const own = { name: 'Old', plan: 'enterprise', currency: 'EUR' };
  const created = { created_at: new Date(), former: 'kept' };
  await stored('organisations').insertOne({ _id: organisationId, ...own, ...created });
  const organisation = { id: organisationId, ...own, state: 'active' };
  const text = { name: 'old', prefix: 'svc_live_', last_four: 'abcd', salt: 'AA==', hash: 'AA==', created_by: 'old' };
  const unused = { expires_at: null, revoked_at: null, last_used_at: null, last_used_from: null, rotated_to: null };
  const key = { ...text, ...unused, organisation, scopes: ['former:read'], allowed_ranges: [], ...created };
  await stored('api_keys').insertOne({ _id: keyId, ...key });
  const event = { at: new Date(), action: 'organisation.created', actor: ACTOR, key_id: null, details: {} };
  const former = { ...event, organisation_id: organisationId, former: 'kept' };
  await stored('audit_events').insertOne({ _id: randomUUID(), ...former });

  const { apiKeys, audit, organisations } = gateway.control;
  expect(await organisations.rename(organisationId, 'Renamed')).toMatchObject({ name: 'Renamed', state: 'active' });
  expect(await apiKeys.list(organisationId)).toMatchObject([{ former: 'kept', organisation: { name: 'Renamed' } }]);
  const rotated = await apiKeys.rotate(keyId, { overlap: 1000 });
  expect(rotated?.document).toMatchObject({ scopes: ['former:read'], mcp: 'read' });
  expect(await audit.list({ organisationId, action: 'organisation.created', limit: 2 })).toMatchObject([event]);
  const kept = { former: 'kept' };
  expect(await stored('organisations').findOne({ _id: organisationId })).toMatchObject(kept);
  expect(await stored('api_keys').findOne({ _id: keyId })).toMatchObject(kept);
});

test('an organisation that is restored as it is keeps its audit log, although its time is another Date', async () => {
  const { id, created_at, name, plan, currency } = await gateway.control.organisations.create(NEW);
  const same = { name, plan, currency, created_at: new Date(created_at) };
  await gateway.control.organisations.restore(id, same);
  expect(await stored('audit_events').countDocuments({ organisation_id: id, action: 'organisation.restored' })).toBe(0);
});
