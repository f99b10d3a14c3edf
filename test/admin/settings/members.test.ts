import { DAY, MINUTE } from '../../../src/units';
import type { Json } from '../../support/client';
import { makeOrganisation } from '../../support/factories';
import { withGateway } from '../../support/gateway';
import { operator, TOKENS } from '../operator/operator';
import { cookieOf, makeLink, person, sendForm, sendLink, signIn, useOffice, visit } from './people';

/* Members of an organisation: those whom an admin invites, those who have signed in, and those whose sessions an admin ends. */

const PUBLIC_URL = 'https://keys.example.com/gate';
const { gateway, admin, member } = useOffice({ ...TOKENS, PUBLIC_URL });

const links = () => gateway.databases.control.collection<{ _id: string; ends_at: Date }>('sign_in_links');
const tokenOf = ({ url }: Json): string => new URL(String(url)).searchParams.get('link')!;
const invite = (name: string, role = 'member') => admin.call('create_invitation', { name, role });
const use = (invited: Json) => sendLink(gateway, tokenOf(invited));
const pending = async () => ((await member.call('invitations')).data as Json[]).map(({ name }) => name);
const eventsOf = async (action: string) =>
  ((await admin.call('audit_events', { action })).data as Json[]).map(({ actor, key_id: _, details }) => [
    actor,
    JSON.parse(details as string),
  ]);

test('an admin invites a person: the link is answered once, works for 7 days, is listed, and makes a member of that role', async () => {
  const invited = await invite(' Ann Lee ');
  const { url, invitation } = invited;
  expect(url).toMatch(/^https:\/\/keys\.example\.com\/gate\/settings\/sign-in\?link=[\w-]{43}$/);
  expect(invitation).toEqual({
    id: expect.any(String),
    name: 'Ann Lee',
    role: 'member',
    created_by: 'Ada',
    created_at: expect.any(String),
    expires_at: expect.any(String),
  });
  expect(Math.abs(Date.parse(invitation.expires_at) - Date.now() - 7 * DAY)).toBeLessThan(MINUTE);
  expect((await member.call('invitations')).data).toEqual([invitation]);
  expect(JSON.stringify(await links().find().toArray())).not.toContain(tokenOf(invited));

  // looking at it does not use it
  const offer = await visit(gateway, `/settings/sign-in?link=${tokenOf(invited)}`);
  expect([offer.status, await offer.text()]).toEqual([200, expect.stringContaining('<strong>Ada</strong> invited')]);
  const ann = await person(gateway, cookieOf(await use(invited)));
  expect((await ann.call('create_key', { name: 'k', scopes: ['quotes:read'] })).code).toBe('forbidden');
  const { data } = await ann.call('members');
  expect(data[0]).toMatchObject({ id: 'invited:Ann Lee', name: 'Ann Lee', role: 'member', signed_in: true });
  expect([(await use(invited)).status, await pending()]).toEqual([410, []]);

  // the same person again, in another role
  await use(await invite('Ann Lee', 'admin'));
  expect((await ann.call('members')).data.filter(({ name }: Json) => name === 'Ann Lee')).toMatchObject([
    { role: 'admin' },
  ]);
  const user = 'invited:Ann Lee';
  expect(await eventsOf('invitation.created')).toMatchObject([
    ['user:link:Ada', { user, role: 'admin' }],
    ['user:link:Ada', { user, role: 'member' }],
  ]);
  expect((await eventsOf('invitation.accepted'))[0]).toEqual([`user:${user}`, { invited_by: 'Ada' }]);
});

test('an invitation is revoked, expires, and ends with its user’s sessions; afterwards its link signs nobody in', async () => {
  const [revoked, expired, ended] = [await invite('Bob'), await invite('Cid'), await invite('Dan')];
  const { id } = revoked.invitation;
  expect(await admin.call('revoke_invitation', { invitation_id: id })).toEqual(revoked.invitation);
  expect((await admin.call('revoke_invitation', { invitation_id: id })).code).toBe('not_found');
  expect(await eventsOf('invitation.revoked')).toEqual([['user:link:Ada', { user: 'invited:Bob', role: 'member' }]]);
  await links().updateOne({ 'user.id': 'invited:Cid' }, { $set: { ends_at: new Date(Date.now() - MINUTE) } });
  expect((await admin.call('revoke_invitation', { invitation_id: expired.invitation.id })).code).toBe('not_found');
  expect(await admin.call('sign_out', { user_id: 'invited:Dan' })).toEqual({ sessions: 0 });
  expect(await pending()).toEqual([]);
  for (const one of [revoked, expired, ended]) expect((await use(one)).status).toBe(410);
});

test('who signs out somebody who is not signed in leaves no event, so that the audit log does not grow by it', async () => {
  const before = await eventsOf('user.signed_out');
  expect(before).toHaveLength(1);
  for (const user_id of ['x1', 'x2']) expect(await admin.call('sign_out', { user_id })).toEqual({ sessions: 0 });
  expect(await eventsOf('user.signed_out')).toEqual(before);
});

test('another organisation neither sees an invitation nor revokes it', async () => {
  const { invitation } = await invite('Fay');
  const other = await signIn(gateway, await makeOrganisation(gateway));
  expect((await other.call('invitations')).data).toEqual([]);
  expect((await other.call('revoke_invitation', { invitation_id: invitation.id })).code).toBe('not_found');
  expect(await pending()).toContain('Fay');
});

test('names that cannot be shown, and a missing role, are refused', async () => {
  expect((await invite('a\nb')).errors).toMatchObject([{ pointer: '/name', code: 'format' }]);
  expect((await invite('x'.repeat(201))).code).toBe('validation_failed');
  expect((await admin.graphql('mutation { create_invitation(name: "x") { url } }')).body.errors).toHaveLength(1);
});

test('at most 100 wait to be used, also if they are made at once; used and expired ones make room', async () => {
  const own = await makeOrganisation(gateway);
  const ada = await signIn(gateway, own, 'admin', 'Ada');
  const { invitation } = await ada.call('create_invitation', { name: 'first', role: 'member' });
  const row = (await links().findOne({ 'invitation.id': invitation.id } as object))!;
  const copies = Array.from({ length: 98 }, (_, at) => ({
    ...row,
    _id: `copy ${own.id} ${String(at)}`,
    user: { id: `invited:${String(at)}`, name: String(at) },
    invitation: { id: String(at), created_by: 'Ada' },
  }));
  await links().insertMany(copies);
  const answers: Json[] = await Promise.all(
    ['Gil', 'Hal', 'Ida'].map((name) => ada.call('create_invitation', { name, role: 'member' })),
  );
  const refused = answers.filter(({ code }) => code !== undefined);
  expect(refused).toHaveLength(2);
  expect(refused[0]).toMatchObject({ code: 'validation_failed', errors: [{ code: 'too_many' }] });
  expect((await ada.call('invitations')).data).toHaveLength(100);
  await links().updateOne({ _id: copies[0]!._id }, { $set: { ends_at: new Date(0) } });
  expect((await ada.call('create_invitation', { name: 'Joe', role: 'member' })).url).toBeDefined();
});

test('a suspended organisation’s invitation waits until it is resumed; erasing the organisation ends it', async () => {
  const own = await makeOrganisation(gateway);
  const caller = operator(gateway);
  const path = `/organisations/${own.id}`;
  await caller.patch(path, { state: 'suspended' });
  const { status, body } = await caller.post(`${path}/invitations`, { name: 'Kim', role: 'admin' });
  expect([status, body.invitation.created_by]).toEqual([201, 'operator:billing']);
  expect((await use(body)).status).toBe(403);
  await caller.patch(path, { state: 'active' });
  expect((await caller.get(`${path}/invitations`)).body.data).toEqual([body.invitation]);
  const revoked = await caller.post(`${path}/invitations`, { name: 'Lea', role: 'member' });
  const one = `${path}/invitations/${String(revoked.body.invitation.id)}`;
  expect([(await caller.remove(one)).status, (await caller.remove(one)).status]).toEqual([200, 404]);
  await caller.post(`${path}/erasure`, { confirm: own.name });
  expect((await use(body)).status).toBe(410);
});

test('in the sandbox, people are invited to the organisation that it belongs to', async () => {
  const own = await makeOrganisation(gateway);
  await gateway.control.sandboxes.create({ of: own.id, willBeSeeded: false }, { who: 'cli:test', from: 'here' });
  const ada = await signIn(gateway, own, 'admin', 'Ada');
  await sendForm(gateway, '/settings/mode', { csrf: ada.csrf, mode: 'test' }, { cookie: ada.cookie });
  const inSandbox = await person(gateway, ada.cookie);
  const made = await inSandbox.call('create_invitation', { name: 'Moe', role: 'member' });
  const moe = await person(gateway, cookieOf(await use(made)));
  expect((await moe.call('members')).data.map(({ name }: Json) => name)).toEqual(['Moe', 'Ada']);
  expect(await inSandbox.call('sign_out', { user_id: 'invited:Moe' })).toEqual({ sessions: 1 });
});

test('an admin ends the sessions and links of one person on every gateway, which the audit log has', async () => {
  const own = await makeOrganisation(gateway);
  const ada = await signIn(gateway, own, 'admin', 'Ada');
  const nan = await signIn(gateway, own, 'admin', 'Nan');
  const elsewhere = await signIn(gateway, await makeOrganisation(gateway), 'admin', 'Nan');
  await withGateway({ PUBLIC_URL }, async (other) => {
    const there = await person(other, nan.cookie);
    expect(await ada.call('sign_out', { user_id: 'link:Nan' })).toEqual({ sessions: 1 });
    expect((await there.call('keys')).code).toBe('unauthenticated');
  });
  for (const one of [ada, elsewhere]) expect((await one.call('keys')).data).toEqual([]);
  const { data } = await ada.call('audit_events', { action: 'user.signed_out' });
  expect(data).toMatchObject([{ actor: 'user:link:Ada', details: expect.stringContaining('link:Nan') }]);
});

test('with an identity provider nobody is invited, since it decides who signs in', async () => {
  const oidc = { OIDC_ISSUER: 'http://127.0.0.1:9', OIDC_CLIENT_ID: 'x', OIDC_CLIENT_SECRET: 'x' };
  const before = await invite('Nia', 'admin');
  await withGateway({ ...oidc, PUBLIC_URL }, async (other) => {
    const ada = await person(other, admin.cookie);
    // an invitation from before the provider works no more; a link that an operator made does
    const path = `/settings/sign-in?link=${tokenOf(before)}`;
    for (const refused of [await visit(other, path), await sendLink(other, tokenOf(before))])
      expect([refused.status, await refused.text()]).toEqual([
        410,
        expect.stringContaining('Invitations do not work any more'),
      ]);
    expect(await pending()).toContain('Nia');
    expect((await sendLink(other, await makeLink(other, await makeOrganisation(other)))).status).toBe(303);
    const refused = await ada.call('create_invitation', { name: 'Oda', role: 'member' });
    expect(refused).toMatchObject({ code: 'forbidden', message: expect.stringContaining('identity provider') });
  });
});

test('members are listed by last sign-in, most recent first, with their role then and whether they are signed in', async () => {
  const own = await makeOrganisation(gateway);
  const before = Date.now();
  const max = await signIn(gateway, own, 'member', 'Max');
  const ada = await signIn(gateway, own, 'member', 'Ada');
  await signIn(gateway, own, 'admin', 'Ada');
  // of another organisation
  await signIn(gateway, await makeOrganisation(gateway), 'admin', 'Eve');
  const { data, has_more } = await max.call('members');
  const signedIn = { from: '127.0.0.1', signed_in: true, last_sign_in_at: expect.any(String) };
  expect({ data, has_more }).toEqual({
    data: [
      { id: 'link:Ada', name: 'Ada', role: 'admin', ...signedIn },
      { id: 'link:Max', name: 'Max', role: 'member', ...signedIn },
    ],
    has_more: false,
  });
  for (const { last_sign_in_at } of data) {
    expect(Math.abs(Date.parse(String(last_sign_in_at)) - before)).toBeLessThan(60_000);
  }
  // one of two sessions
  await sendForm(gateway, '/settings/sign-out', { csrf: ada.csrf }, { cookie: ada.cookie });
  expect((await max.call('members')).data[0]).toMatchObject({ signed_in: true });
  const whose = { organisationId: own.id, userId: 'link:Ada' };
  await gateway.control.sessions.endAll(whose, { who: 'cli:test', from: 'here' });
  expect((await max.call('members')).data.map(({ name, signed_in }: Json) => [name, signed_in])).toEqual([
    ['Ada', false],
    ['Max', true],
  ]);
});

test('who signs in as a member has no session of an admin any more', async () => {
  const own = await makeOrganisation(gateway);
  await signIn(gateway, own, 'admin', 'Ada');
  await signIn(gateway, own, 'admin', 'Bob');
  await signIn(gateway, own, 'member', 'Ada');
  const left = await gateway.databases.control.collection('sessions').find({ organisation_id: own.id }).toArray();
  expect(left.map(({ user, role }) => [user.name, role]).toSorted()).toEqual([
    ['Ada', 'member'],
    ['Bob', 'admin'],
  ]);
});

test('an expired session does not count, even if it is not deleted yet', async () => {
  const own = await makeOrganisation(gateway);
  await signIn(gateway, own, 'admin', 'Ada');
  const max = await signIn(gateway, own, 'member', 'Max');
  const sessions = gateway.databases.control.collection('sessions');
  await sessions.updateMany({ 'user.id': 'link:Ada', organisation_id: own.id }, { $set: { ends_at: new Date(0) } });
  expect((await max.call('members')).data).toMatchObject([{ name: 'Max' }, { name: 'Ada', signed_in: false }]);
});

test('a user who signs in many times concurrently is one member', async () => {
  const own = await makeOrganisation(gateway);
  const [ada] = await Promise.all(Array.from({ length: 6 }, () => signIn(gateway, own, 'admin', 'Ada')));
  expect((await ada!.call('members')).data).toMatchObject([{ name: 'Ada' }]);
});

test('at most 200 members are listed, those who signed in last', async () => {
  const own = await makeOrganisation(gateway);
  const ada = await signIn(gateway, own, 'admin', 'Ada');
  const many = Array.from({ length: 205 }, (_, at) => ({
    _id: `${own.id}:${String(at)}`,
    organisation_id: own.id,
    user: { id: String(at), name: `N${String(at)}` },
    role: 'member',
    last_sign_in_at: new Date(Date.UTC(2026, 0, 1, 0, at)),
    from: '127.0.0.1',
  }));
  await gateway.databases.control.collection<{ _id: string }>('members').insertMany(many);
  const { data, has_more } = await ada.call('members');
  expect(data).toHaveLength(200);
  expect([data[0]?.name, data[1]?.name, data.at(-1)?.name]).toEqual(['Ada', 'N204', 'N6']);
  expect(has_more).toBe(true);
});
