import { randomUUID } from 'node:crypto';
import type { AuditAction } from '../../../src/organisations/auditEvents';
import type { AuditEvent } from '../../../src/organisations/auditRows';
import type { Organisation } from '../../../src/auth/principal';
import { DAY, HOUR, MINUTE } from '../../../src/units';
import { makeKey, makeOrganisation } from '../../support/factories';
import { driver, served } from '../../support/gateway';
import { operator, TOKENS } from '../operator/operator';
import { makeLink, type Person, sendLink, signIn } from './people';

/* What people make the control database store is bounded: a day's changes, what they repeat, and sessions. */

const gateway = served({
  ...TOKENS,
  CONTROL_DATABASE: 'scopegate_test_budgets',
  MAX_KEYS: '3',
  WEBHOOK_SECRET: 'w'.repeat(32),
  WEBHOOK_ALLOWED_RANGES: '127.0.0.1/32',
  PUBLIC_URL: 'https://api.example.com',
});
// not through the gateway's pool, which sends an insert again if a slow database does not answer for 5 s
const bare = driver();
const events = () => bare.db('scopegate_test_budgets').collection<AuditEvent>('audit_events');
let organisation: Organisation;
let admin: Person;

beforeEach(async () => {
  organisation = await makeOrganisation(gateway);
  admin = await signIn(gateway, organisation);
});

/** Adds events as if an admin had caused them, the first an age ago. */
async function addEvents(action: AuditAction, count: number, age: number, who = 'user:link:Ann'): Promise<void> {
  const at = new Date(Date.now() - age);
  const of = {
    at,
    action,
    actor: { who, from: '192.0.2.1' },
    organisation_id: organisation.id,
    key_id: null,
    details: {},
    // as the recorder stores them
    ...(!who.startsWith('cli:') && { times: 1 }),
  };
  await events().insertMany(Array.from({ length: count }, () => ({ _id: randomUUID(), ...of })));
}
const listed = async (action: AuditAction) => (await admin.call('audit_events', { action, limit: 100 })).data;

const KEY = { name: 'k', scopes: ['products:read'] };

// test/unit/auditBudgets has the number of each action
test('1,000 changes of a kind in 24 hours; the next stores nothing, and says when and how to go on', async () => {
  await addEvents('key.created', 999, DAY - HOUR);
  expect(await admin.call('create_key', KEY)).not.toHaveProperty('code');
  expect(await admin.call('create_key', KEY)).toMatchObject({
    code: 'rate_limited',
    retry_after: expect.any(Number),
    message: expect.stringMatching(
      /^The organisation has had 1,000 .+ in 24 hours, the most it may; nothing was stored\. Retry in 60 min, or ask the operator, whose command line has no such limit\.$/,
    ),
  });
  expect(await events().countDocuments({ organisation_id: organisation.id, action: 'key.created' })).toBe(1000);
});

test('what was a day ago does not count, another organisation has its own, and the command line has none and takes none', async () => {
  await addEvents('key.created', 1000, DAY + MINUTE);
  await addEvents('key.created', 1000, HOUR, 'cli:root');
  expect(await admin.call('create_key', KEY)).toHaveProperty('key');
  await addEvents('key.created', 1000, HOUR);
  expect(await admin.call('create_key', KEY)).toMatchObject({ code: 'rate_limited' });
  expect((await makeKey(gateway, organisation)).key).toBeDefined();
  const other = await signIn(gateway, await makeOrganisation(gateway));
  expect(await other.call('create_key', KEY)).toHaveProperty('key');
});

test("operators' changes have budgets too: a 429 with Retry-After", async () => {
  await addEvents('organisation.renamed', 1000, HOUR, 'operator:billing');
  const caller = operator(gateway);
  const renaming = await caller.patch(`/organisations/${organisation.id}`, { name: 'Other' });
  expect([renaming.status, renaming.body.code]).toEqual([429, 'rate_limited']);
  expect(Number(renaming.headers.get('retry-after'))).toBeGreaterThan(22 * 3600);
  expect((await caller.patch(`/organisations/${organisation.id}`, { state: 'suspended' })).status).toBe(200);
});

test('what somebody repeats within the hour is one event that says how often, also if it is done at once', async () => {
  const { id } = await makeKey(gateway, organisation);
  const names = ['b', 'test', 'b', 'test', 'b'];
  for (const name of names) expect(await admin.call('update_key', { key_id: id, name })).toMatchObject({ name });
  const updated = await listed('key.updated');
  expect(
    updated.map(({ times, details }: { times: number; details: string }) => [times, JSON.parse(details).to]),
  ).toEqual([
    [2, { name: 'test' }],
    [3, { name: 'b' }],
  ]);
  for (const { at, last_at } of updated) expect(last_at > at).toBe(true);
  const links = await Promise.all(Array.from({ length: 5 }, () => makeLink(gateway, organisation)));
  const before = await listed('user.signed_in');
  expect((await Promise.all(links.map((link) => sendLink(gateway, link)))).map(({ status }) => status)).toEqual(
    Array.from({ length: 5 }, () => 303),
  );
  expect(await listed('user.signed_in')).toEqual([{ ...before[0], times: 6, last_at: expect.any(String) }]);
});

test('what differs in address, details, person or hour is an event of its own', async () => {
  const record = (who: string, from: string, details: object) =>
    gateway.control.as({ who, from }).organisations.update(organisation.id, details);
  await record('user:a', 'one', { name: 'B' });
  await record('user:a', 'one', { name: 'Test' });
  await record('user:a', 'two', { name: 'B' });
  await record('user:a', 'one', { name: 'Test' });
  await record('user:b', 'one', { name: 'B' });
  await record('cli:a', 'one', { name: 'Test' });
  await record('user:b', 'one', { name: 'C' });
  const renamed = await listed('organisation.renamed');
  expect(renamed.map(({ times }: { times: number }) => times)).toEqual([1, 1, 1, 1, 2, 1]);
});

test('a user has at most 50 sessions, of which another one ends the oldest, and 200 different sign-ins a day', async () => {
  const first = admin;
  const sessions = bare.db('scopegate_test_budgets').collection<{ _id: string; created_at: Date }>('sessions');
  const [own] = await sessions.find({ organisation_id: organisation.id } as object).toArray();
  const later = Array.from({ length: 48 }, (_none, nth) => new Date(own!.created_at.getTime() + 1 + nth));
  await sessions.insertMany(later.map((created_at) => ({ ...own!, _id: randomUUID(), created_at })));
  admin = await signIn(gateway, organisation);
  expect((await first.graphql('{ members { has_more } }')).status).toBe(200);
  admin = await signIn(gateway, organisation);
  expect((await first.graphql('{ members { has_more } }')).status).toBe(401);
  expect((await admin.graphql('{ members { has_more } }')).status).toBe(200);
  await addEvents('user.signed_in', 200, HOUR);
  const busy = await makeLink(gateway, organisation);
  // one more of the same hour and address is counted in the event that is there
  expect((await sendLink(gateway, busy)).status).toBe(303);
  await events().updateMany({ organisation_id: organisation.id }, { $set: { at: new Date(0) } });
  await addEvents('user.signed_in', 200, HOUR, 'user:link:Bob');
  const link = await makeLink(gateway, organisation, 'admin', 'Bob');
  const refused = await sendLink(gateway, link);
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
  expect(await refused.text()).toContain('200 sign-ins of one user');
  // the link was not used up
  await events().deleteMany({ 'actor.who': 'user:link:Bob' });
  expect((await sendLink(gateway, link)).status).toBe(303);
});

test('replaced keys that still work are at most as many as others, or MAX_KEYS, so that rotating makes no more keys than may be active', async () => {
  const { id } = await makeKey(gateway, organisation);
  let last = id;
  for (let nth = 0; nth < 3; nth += 1)
    last = (await admin.call('rotate_key', { key_id: last, overlap_hours: 720 })).api_key.id as string;
  expect(await admin.call('rotate_key', { key_id: last, overlap_hours: 720 })).toMatchObject({
    code: 'validation_failed',
    errors: [{ code: 'too_many', detail: expect.stringContaining('3 replaced keys that still work') }],
  });
  await admin.call('revoke_key', { key_id: id });
  expect(await admin.call('rotate_key', { key_id: last, overlap_hours: 720 })).toHaveProperty('key');
});
