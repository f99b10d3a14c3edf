import { makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { client } from '../../support/client';
import { ROWS } from '../../support/smallSample';
import { person, type Person, sendForm, signIn, visit } from '../settings/people';

/* The switch on the settings page between an organisation and its sandbox. */

jest.mock('../../../src/resources/sample', () => jest.requireActual<object>('../../support/smallSample'));

const gateway = served();

/** Switches a person's session; resolves with them as they are then, and the status of the answer. */
async function enter(who: Person, mode: 'live' | 'test'): Promise<{ status: number; who: Person }> {
  const { status } = await sendForm(gateway, '/settings/mode', { csrf: who.csrf, mode }, { cookie: who.cookie });
  return { status, who: await person(gateway, who.cookie) };
}

const pageOf = async ({ cookie }: Person): Promise<string> =>
  (await visit(gateway, '/settings/integrations', cookie)).text();

const FIGURE = '{ order_totals(group_by: []) { data { count } } }';
const KEY = { name: 'trial', scopes: ['orders:read'] };

describe('an admin who opens the sandbox', () => {
  const scene = late(async () => {
    const owner = await makeOrganisation(gateway, { plan: 'starter', name: 'Acme' });
    const live = await signIn(gateway, owner, 'admin', 'Ada');
    const { status, who } = await enter(live, 'test');
    return { owner, live, status, test: who };
  });

  test('gets one with the sample, and a key of it at once, whatever the plan', async () => {
    expect(scene.status).toBe(303);
    const page = await pageOf(scene.test);
    expect(page).toContain('Acme sandbox');
    expect(page).toContain('id="sandbox"');
    const { key } = await scene.test.call('create_key', KEY);
    expect(key).toMatch(/^svc_test_/);
    const { body } = await client(gateway, key as string).graphql(FIGURE);
    expect(body.data.order_totals.data).toEqual([{ count: ROWS }]);
    // with the session as with the key
    expect((await scene.test.graphql(FIGURE)).body).toEqual(body);
  });

  test('sees none of it in the live mode, nor the other way round', async () => {
    await scene.test.call('create_key', { ...KEY, name: 'of the sandbox' });
    const { who } = await enter(scene.test, 'live');
    expect((await who.call('keys')).data).toEqual([]);
    expect((await who.graphql(FIGURE)).body.data.order_totals.data).toEqual([]);
    expect(await pageOf(who)).not.toContain('id="sandbox"');
    const again = (await enter(who, 'test')).who;
    expect((await again.call('keys')).data).toContainEqual(expect.objectContaining({ name: 'of the sandbox' }));
    const events = await again.call('audit_events');
    expect(events.data.map(({ action }: { action: string }) => action)).toContain('organisation.created');
  });

  test('changes nothing in it from a page of the other mode', async () => {
    const live = (await enter(await person(gateway, scene.test.cookie), 'live')).who;
    const { who } = await enter(live, 'test');
    const refused = await live.call('create_key', { ...KEY, name: 'from an old page' });
    expect(refused).toMatchObject({ code: 'forbidden' });
    expect((await who.call('keys', { search: 'old page' })).data).toEqual([]);
  });

  test('is one member of the organisation, and signs out of both', async () => {
    const ada = await signIn(gateway, scene.owner, 'admin', 'Grace');
    const { who } = await enter(ada, 'test');
    expect((await who.call('members')).data).toContainEqual(
      expect.objectContaining({ name: 'Grace', signed_in: true }),
    );
    const form = { csrf: who.csrf, everywhere: '1' };
    await sendForm(gateway, '/settings/sign-out', form, { cookie: who.cookie });
    expect((await visit(gateway, '/settings/integrations', who.cookie)).status).toBe(303);
  });
});

test('signing out an organisation ends the sessions of its sandbox, and signing out the sandbox those that switched to it', async () => {
  const owner = await makeOrganisation(gateway);
  await gateway.control.sandboxes.create({ of: owner.id, willBeSeeded: false }, { who: 'cli:test', from: 'here' });
  const { who: ada } = await enter(await signIn(gateway, owner, 'admin', 'Ada'), 'test');
  const { organisation } = (await gateway.control.sandboxes.of(owner.id))!;
  const eve = await signIn(gateway, organisation, 'admin', 'Eve');
  const operator = { who: 'cli:test', from: 'here' };
  // as a replay after a restore asks, which is to end them again
  const hasAny = (organisationId: string, userId?: string): Promise<boolean> =>
    gateway.control.sessions.hasFrom({ organisationId, userId }, new Date(Date.now() + 60_000));
  expect([await hasAny(owner.id, 'link:Eve'), await hasAny(organisation.id, 'link:Ada')]).toEqual([true, true]);
  expect(await gateway.control.sessions.endAll({ organisationId: owner.id, userId: 'link:Eve' }, operator)).toBe(1);
  expect((await visit(gateway, '/settings/integrations', eve.cookie)).status).toBe(303);
  expect(await gateway.control.sessions.endAll({ organisationId: organisation.id }, operator)).toBe(1);
  expect((await visit(gateway, '/settings/integrations', ada.cookie)).status).toBe(303);
  expect([await hasAny(owner.id), await hasAny(organisation.id)]).toEqual([false, false]);
});

test('a member can use an existing sandbox, but not create one', async () => {
  const owner = await makeOrganisation(gateway);
  const max = await signIn(gateway, owner, 'member', 'Max');
  expect(await pageOf(max)).not.toContain('/settings/mode');
  expect((await enter(max, 'test')).status).toBe(403);
  expect(await gateway.control.sandboxes.of(owner.id)).toBeUndefined();
  await gateway.control.sandboxes.create({ of: owner.id, willBeSeeded: false }, { who: 'cli:test', from: 'here' });
  expect(await pageOf(max)).toContain('/settings/mode');
  const { status, who } = await enter(max, 'test');
  expect(status).toBe(303);
  expect(await who.call('create_key', KEY)).toMatchObject({ code: 'forbidden' });
});

test('users who open it concurrently get one, with the whole sample; an interrupted load is completed', async () => {
  const owner = await makeOrganisation(gateway);
  const admins = await Promise.all(['A', 'B', 'C'].map((name) => signIn(gateway, owner, 'admin', name)));
  const opened = await Promise.all(admins.map((admin) => enter(admin, 'test')));
  expect(opened.map(({ status }) => status)).toEqual([303, 303, 303]);
  const { organisation, unseeded } = (await gateway.control.sandboxes.of(owner.id))!;
  expect(unseeded).toBeUndefined();
  const data = gateway.databases.organisationData(organisation);
  const products = data.database.collection('products');
  expect(await products.countDocuments()).toBe(ROWS);
  await products.deleteMany({});
  const { sandboxes } = gateway.control;
  await sandboxes.noteEmptied((await sandboxes.noteEmptying(organisation.id))!);
  await enter((await enter(opened[0]!.who, 'live')).who, 'test');
  expect(await products.countDocuments()).toBe(ROWS);
  expect((await sandboxes.of(owner.id))!.unseeded).toBeUndefined();
});

test('a switch after a reset that was killed while it emptied the sandbox stores nothing over what was edited since', async () => {
  const owner = await makeOrganisation(gateway);
  const { who } = await enter(await signIn(gateway, owner, 'admin', 'Ada'), 'test');
  const { sandboxes } = gateway.control;
  const { organisation } = (await sandboxes.of(owner.id))!;
  const products = gateway.databases.organisationData(organisation).database.collection('products');
  await sandboxes.noteEmptying(organisation.id);
  await products.updateMany({}, { $set: { name: 'edited' } });
  const { status } = await enter((await enter(who, 'live')).who, 'test');
  expect([status, await products.countDocuments({ name: 'edited' })]).toEqual([303, ROWS]);
  // only another reset completes it
  expect((await sandboxes.of(owner.id))!.unseeded).toMatch(/^emptying:/);
});

test('a link to a sandbox signs in to that sandbox only', async () => {
  const owner = await makeOrganisation(gateway);
  const made = await gateway.control.sandboxes.create(
    { of: owner.id, willBeSeeded: false },
    { who: 'cli:test', from: 'here' },
  );
  const eve = await signIn(gateway, made!.organisation, 'admin', 'Eve');
  expect(await pageOf(eve)).not.toContain('/settings/mode');
  const { who } = await enter(eve, 'live');
  expect(await pageOf(who)).toContain('id="sandbox"');
  expect((await enter(who, 'test')).status).toBe(403);
});

test('the switch stays on the page that was shown, and leads to no page outside the settings', async () => {
  const owner = await makeOrganisation(gateway);
  await gateway.control.sandboxes.create({ of: owner.id, willBeSeeded: false }, { who: 'cli:test', from: 'here' });
  let { cookie, csrf } = await signIn(gateway, owner, 'admin', 'Ada');
  for (const [page, to] of [
    ['/settings/requests', '/settings/requests'],
    ['//elsewhere.example/settings/keys', '/settings/integrations'],
    ['/settings/sign-out', '/settings/integrations'],
  ] as const) {
    const { headers } = await sendForm(gateway, '/settings/mode', { csrf, mode: 'test', page }, { cookie });
    expect(headers.get('location')).toBe(to);
    ({ cookie, csrf } = await person(gateway, cookie));
  }
});

test('the switch of a page that another tab has left behind leads to the page that it names, and switches nothing', async () => {
  const owner = await makeOrganisation(gateway);
  await gateway.control.sandboxes.create({ of: owner.id, willBeSeeded: false }, { who: 'cli:test', from: 'here' });
  const old = await signIn(gateway, owner, 'admin', 'Ada');
  const { who } = await enter(old, 'test');
  const press = async ({ cookie }: Person, mode: string, page: string): Promise<string> => {
    const answer = await sendForm(gateway, '/settings/mode', { csrf: old.csrf, mode, page }, { cookie });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, page]);
    return (await visit(gateway, page, cookie)).text();
  };
  expect(await press(who, 'test', '/settings/sandbox/keys')).toContain('id="sandbox"');
  expect(await press(who, 'live', '/settings/keys')).toContain('id="sandbox"');
  // signed in again, a new session is in live data
  const again = await signIn(gateway, owner, 'admin', 'Ada');
  expect(await press(again, 'test', '/settings/sandbox/keys')).toContain('Switch to the sandbox');
  expect(await pageOf(again)).not.toContain('id="sandbox"');
});

test('a link to a page of the sandbox offers to switch, and never shows live data instead', async () => {
  const owner = await makeOrganisation(gateway);
  const max = await signIn(gateway, owner, 'member', 'Max');
  const address = `/settings/sandbox/keys/${owner.id}?period=last_7d`;
  // there is none, and a member cannot make it
  expect((await visit(gateway, address, max.cookie)).status).toBe(404);
  const ada = await signIn(gateway, owner, 'admin', 'Ada');
  const offer = await (await visit(gateway, address, ada.cookie)).text();
  expect(offer).toContain('Switch to the sandbox');
  expect(offer).not.toContain('data-page');
  const [, page = ''] = /name="page" value="([^"]+)"/.exec(offer) ?? [];
  const form = { csrf: ada.csrf, mode: 'test', page };
  const switched = await sendForm(gateway, '/settings/mode', form, { cookie: ada.cookie });
  expect(switched.headers.get('location')).toBe(address);
  const shown = await (await visit(gateway, address, ada.cookie)).text();
  expect(shown).toContain('id="sandbox"');
  expect(shown).toContain('href="/settings/sandbox/requests"');
  // nor the other way round; an address that names nothing in particular shows where one is
  const back = await (await visit(gateway, `/settings/keys/${owner.id}`, ada.cookie)).text();
  expect(back).toContain('Switch to live data');
  expect(await (await visit(gateway, '/settings/keys', ada.cookie)).text()).toContain('id="sandbox"');
  // whoever has no session signs in first, and comes back
  expect((await visit(gateway, address, '')).headers.getSetCookie().join()).toContain('scopegate_wanted=');
});

test('without a CSRF token, from another site, or without a session nothing is created', async () => {
  const owner = await makeOrganisation(gateway);
  const ada = await signIn(gateway, owner, 'admin', 'Ada');
  const { cookie, csrf } = ada;
  for (const [members, headers, expected] of [
    [{ mode: 'test' }, { cookie }, [303, '/settings/integrations']],
    [{ mode: 'test', csrf }, { cookie, 'sec-fetch-site': 'cross-site' }, [403, null]],
    [{ mode: 'test' }, { cookie, origin: 'https://evil.example' }, [403, null]],
    [{ mode: 'test', csrf }, {}, [303, '/settings/sign-in']],
  ] as const) {
    const { status, headers: answered } = await sendForm(gateway, '/settings/mode', members, headers);
    expect([status, answered.get('location')]).toEqual(expected);
  }
  expect(await gateway.control.sandboxes.of(owner.id)).toBeUndefined();
});
