import { HOUR, MINUTE } from '../../../src/units';
import { makeOrganisation } from '../../support/factories';
import { late, served, startGateway, withGateway } from '../../support/gateway';
import { cookieOf, makeLink, person, sendForm, sendLink, signIn, visit } from './people';

const gateway = served();
const organisation = late(() => makeOrganisation(gateway, { name: 'Acme & <Sons>' }));

const PAGE = '/settings/integrations';
const SIGN_IN = [303, '/settings/sign-in'];
const BY = { who: 'cli:test', from: 'here' };

const rows = (name: 'sessions' | 'sign_in_links') =>
  gateway.databases.control.collection<{ _id: string; ends_at: Date }>(name);
const signOut = (who: { csrf: string; cookie: string }, members: Record<string, string> = { csrf: who.csrf }) =>
  sendForm(gateway, '/settings/sign-out', members, { cookie: who.cookie });
const leadsTo = ({ status, headers }: Response) => [status, headers.get('location')];

describe('a one-time link', () => {
  test('signs in once: GET and HEAD show a button without using the link, POST uses it, and a second POST is rejected', async () => {
    const link = await makeLink(gateway, organisation);
    for (const method of ['GET', 'HEAD', 'GET']) {
      const shown = await visit(gateway, `/settings/sign-in?link=${link}`, '', method);
      expect(shown.status).toBe(200);
      expect(shown.headers.getSetCookie()).toEqual([]);
      expect(shown.headers.get('cache-control')).toBe('no-store');
      if (method === 'GET') expect(await shown.text()).toContain(`name="link" value="${link}"`);
    }
    const entered = await sendLink(gateway, link);
    expect(leadsTo(entered)).toEqual([303, PAGE]);
    expect((await visit(gateway, PAGE, cookieOf(entered))).status).toBe(200);

    const again = await sendLink(gateway, link);
    expect([again.status, again.headers.getSetCookie()]).toEqual([410, []]);
    expect(await again.text()).toContain('has been used or revoked, or has expired');
    expect((await visit(gateway, `/settings/sign-in?link=${link}`)).status).toBe(410);
  });

  test('leads to the page that was asked for before, if it is one of the settings, and only once', async () => {
    const enter = async (cookie: string) =>
      sendLink(gateway, await makeLink(gateway, organisation), { cookie: `scopegate_wanted=${cookie}` });
    const key = '/settings/keys/689defbf-4477-4b15-966e-4830b650ded3?code=not_found&since=24';
    const refused = await visit(gateway, key);
    expect(leadsTo(refused)).toEqual(SIGN_IN);
    const wanted = /scopegate_wanted=([\w-]+); Max-Age=600;/.exec(refused.headers.getSetCookie().join())?.[1];
    const entered = await enter(wanted!);
    expect(leadsTo(entered)).toEqual([303, key]);
    expect(entered.headers.getSetCookie().join()).toContain('scopegate_wanted=; Max-Age=0');
    for (const elsewhere of [
      'https://evil.example',
      '//evil.example/settings/keys',
      '/\\evil.example/settings/keys',
      '\\\\evil.example',
      '/%2f%2fevil.example',
      '/%5cevil.example',
      '/settings/keys@evil.example',
      '/settings/../../evil',
      '/settings/keys/../../../evil',
      '/settings/keys\r\nLocation: https://evil.example',
      '/settings/sign-out',
      `/settings/keys?q=${'x'.repeat(700)}`,
      'javascript:alert(1)',
      '/',
    ])
      expect(leadsTo(await enter(Buffer.from(elsewhere).toString('base64url')))).toEqual([303, PAGE]);
    expect(leadsTo(await enter('%zz'))).toEqual([303, PAGE]);
    // who then asks for the page that everybody starts at wants no other any more
    expect((await visit(gateway, PAGE)).headers.getSetCookie().join()).toContain('scopegate_wanted=; Max-Age=0');
  });

  test('signs in only one of several concurrent uses', async () => {
    const link = await makeLink(gateway, organisation);
    const answers = await Promise.all([0, 1, 2, 3].map(() => sendLink(gateway, link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410]);
  });

  test('is valid for 15 minutes, also if it is not deleted then, only for an organisation, and its token is not stored', async () => {
    const session = { organisationId: organisation.id, user: { id: 'link:x', name: 'x' }, role: 'member' } as const;
    const { sessions } = gateway.control;
    expect(await sessions.makeLink({ ...session, organisationId: 'nothing' }, BY)).toBeUndefined();
    const { endsAt, token } = (await sessions.makeLink(session, BY))!;
    expect(Math.abs(endsAt.getTime() - Date.now() - 15 * MINUTE)).toBeLessThan(MINUTE / 2);
    const cookie = cookieOf(await sendLink(gateway, await makeLink(gateway, organisation)));
    const stored = JSON.stringify([
      await rows('sign_in_links').find().toArray(),
      await rows('sessions').find().toArray(),
    ]);
    for (const secret of [token, cookie.split('=')[1]]) expect(stored).not.toContain(secret);
    // the database's clock, which is the one that counts, may be a little behind
    await rows('sign_in_links').updateMany({}, { $set: { ends_at: new Date(Date.now() - 5000) } });
    expect((await sendLink(gateway, token)).status).toBe(410);
  });

  test.each(['', 'x', 'x'.repeat(43), '$ne', '\'"><script>'])(
    'with an unknown token, %j, is rejected',
    async (link) => {
      expect((await sendLink(gateway, link)).status).toBe(410);
      const shown = await (await visit(gateway, `/settings/sign-in?link=${encodeURIComponent(link)}`)).text();
      expect(shown).not.toContain('<script>');
    },
  );

  test('shows who is signed in and would be replaced, only to that user, and is not used up by that', async () => {
    const ann = await signIn(gateway, organisation);
    const link = await makeLink(gateway, await makeOrganisation(gateway, { name: 'Elsewhere' }), 'admin', 'Bob');
    const open = async (cookie: string): Promise<string> =>
      (await (await visit(gateway, `/settings/sign-in?link=${link}`, cookie)).text()).replaceAll(/\s+/g, ' ');
    expect(await open(ann.cookie)).toContain(
      'You are signed in as Ann of Acme &amp; &lt;Sons&gt;. Continuing signs you in with this link instead.',
    );
    for (const cookie of ['', `scopegate_session=${'x'.repeat(43)}`]) {
      const shown = await open(cookie);
      expect(shown).toContain(`name="link" value="${link}"`);
      expect(shown).not.toMatch(/signed in as|Ann|Bob|Acme|Elsewhere/);
    }
    expect((await sendLink(gateway, link, { cookie: ann.cookie })).status).toBe(303);
  });

  test.each(['link=', 'link=x', `link=${'x'.repeat(44)}`, `link=${'x'.repeat(43)}.`, 'link=a&link=b'])(
    'with the query %s is incomplete, and its page says so without a button',
    async (query) => {
      const shown = await visit(gateway, `/settings/sign-in?${query}`);
      expect(shown.status).toBe(400);
      const page = await shown.text();
      expect(page).toContain('This link is incomplete.');
      expect(page).not.toContain('Continue');
    },
  );

  test('cannot be used by a page of another site', async () => {
    const link = await makeLink(gateway, organisation);
    const refused = await sendLink(gateway, link, { origin: 'https://evil.example' });
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    expect((await sendLink(gateway, link, { origin: gateway.url })).status).toBe(303);
  });

  test('is not logged', async () => {
    const link = await makeLink(gateway, organisation);
    await visit(gateway, `/settings/sign-in?link=${link}`);
    await sendLink(gateway, link);
    expect(JSON.stringify(gateway.logs)).not.toContain(link);
  });
});

test('the cookie is HttpOnly, SameSite and only for this host, and __Host- and Secure if PUBLIC_URL is https', async () => {
  const [set = ''] = (await sendLink(gateway, await makeLink(gateway, organisation))).headers.getSetCookie();
  const COOKIE = /^scopegate_session=[\w-]{43}; Max-Age=86400; Path=\/; HttpOnly; SameSite=Lax$/;
  expect(set).toMatch(COOKIE);
  await withGateway({ PUBLIC_URL: 'https://keys.example' }, async (secure) => {
    const entered = await sendLink(secure, await makeLink(secure, organisation), { origin: 'https://keys.example' });
    const [, safe = ''] = /^__Host-(.*); Secure$/.exec(entered.headers.getSetCookie()[0]!) ?? [];
    expect(safe).toMatch(COOKIE);
    expect((await visit(secure, PAGE, cookieOf(entered))).status).toBe(200);
    expect((await visit(secure, PAGE, cookieOf(entered).replace('__Host-', ''))).status).toBe(303);
  });
});

describe('a session', () => {
  test('that is signed out ends immediately, on every instance', async () => {
    const ann = await signIn(gateway, organisation);
    await withGateway({}, async (other) => {
      const there = await person(other, ann.cookie);
      expect((await there.call('keys')).data).toEqual([]);
      const out = await signOut(ann);
      expect(leadsTo(out)).toEqual(SIGN_IN);
      expect(out.headers.getSetCookie()[0]).toContain('Max-Age=0');
      expect(await there.call('keys')).toMatchObject({ code: 'unauthenticated', status: 401 });
      expect(leadsTo(await visit(other, PAGE, ann.cookie))).toEqual(SIGN_IN);
    });
  });

  test('signed out everywhere ends all sessions and links of its user, and no one else’s', async () => {
    const here = await signIn(gateway, organisation, 'admin', 'Eve');
    const there = await signIn(gateway, organisation, 'admin', 'Eve');
    const link = await makeLink(gateway, organisation, 'admin', 'Eve');
    const bob = await signIn(gateway, organisation, 'member', 'Bob');
    const elsewhere = await signIn(gateway, await makeOrganisation(gateway), 'admin', 'Eve');
    await signOut(here, { csrf: here.csrf, everywhere: '1' });
    for (const one of [here, there]) expect((await one.call('keys')).code).toBe('unauthenticated');
    expect((await sendLink(gateway, link)).status).toBe(410);
    for (const one of [bob, elsewhere]) expect((await one.call('keys')).data).toEqual([]);
  });

  test('that has expired is rejected, even if not deleted yet', async () => {
    const ann = await signIn(gateway, organisation, 'admin', 'Idle');
    await rows('sessions').updateOne({ 'user.id': 'link:Idle' }, { $set: { ends_at: new Date(Date.now() - MINUTE) } });
    expect((await ann.call('keys')).code).toBe('unauthenticated');
  });

  test('in use is extended, but never beyond 12 hours', async () => {
    const ann = await signIn(gateway, organisation, 'admin', 'Busy');
    const created = Date.now() - 11.5 * HOUR;
    const used = { created_at: new Date(created), used_at: new Date(Date.now() - HOUR / 2) };
    await rows('sessions').updateOne({ 'user.id': 'link:Busy' }, { $set: used });
    expect((await ann.call('keys')).data).toEqual([]);
    const stored = await rows('sessions').findOne({ 'user.id': 'link:Busy' });
    expect(stored!.ends_at.getTime()).toBe(created + 12 * HOUR);
  });

  test.each(['', 'nonsense', 'x'.repeat(43)])('with the cookie %j does not exist', async (token) => {
    expect(leadsTo(await visit(gateway, PAGE, `scopegate_session=${token}`))).toEqual(SIGN_IN);
  });
});

describe('the sign-in page', () => {
  const pageOf = async (of: { readonly url: string }, cookie = '', headers: Record<string, string> = {}) => {
    const answer = await fetch(`${of.url}/settings/sign-in`, { headers: { accept: 'text/html', cookie, ...headers } });
    return (await answer.text()).replaceAll(/\s+/g, ' ');
  };
  const ENDED = 'Your session has ended. Sign in again to go on.';
  const DEMO_BUTTON = 'Continue as demo admin';
  const continueAsDemo = (at: { readonly url: string }, headers: Record<string, string> = {}) =>
    sendForm(at, '/settings/sign-in/demo', {}, headers);

  test('says that a session has ended, however it did, leads back to the page after signing in, and says nothing otherwise', async () => {
    const own = await makeOrganisation(gateway);
    const [ann, bob] = [await signIn(gateway, own), await signIn(gateway, own, 'admin', 'Bob')];
    await bob.call('sign_out', { user_id: 'link:Ann' });
    const wanted = '/settings/requests?code=forbidden';
    const sent = await visit(gateway, wanted, ann.cookie);
    expect(leadsTo(sent)).toEqual(SIGN_IN);
    expect(await pageOf(gateway, ann.cookie)).toContain(ENDED);
    const cookies = `${ann.cookie}; ${cookieOf(sent)}`;
    expect(leadsTo(await sendLink(gateway, await makeLink(gateway, own), { cookie: cookies }))).toEqual([303, wanted]);
    expect(leadsTo(await visit(gateway, '/settings/sign-in', bob.cookie))).toEqual([303, PAGE]);
    const out = await signOut(bob);
    for (const cookie of ['', cookieOf(out), 'scopegate_session=x'])
      expect(await pageOf(gateway, cookie)).not.toContain(ENDED);
  });

  test('tells customers whom to ask, and no commands', async () => {
    const page = await pageOf(gateway);
    expect(page).toContain(
      'Ask an admin of your organisation for an invitation, or the operator of this gateway for a link.',
    );
    for (const absent of ['npx', 'scopegate org', DEMO_BUTTON]) expect(page).not.toContain(absent);
    await withGateway({ CONTACT_URL: 'mailto:help@example.com?subject=%22Keys%22' }, async (other) => {
      expect(await pageOf(other)).toContain(
        'or <a href="mailto:help@example.com?subject=%22Keys%22">contact the operator of this gateway</a>.',
      );
    });
    await visit(gateway, '/').then(async (landing) => {
      expect(await landing.text()).toContain('href="/settings/keys">Get an API key');
    });
  });

  test('of a demo signs in by one click as its admin, but only on the machine itself and from its own page', async () => {
    await using demo = await startGateway({ CONTROL_DATABASE: 'scopegate_test_demo' }, {}, { demoKey: 'svc_live_x' });
    expect((await continueAsDemo(demo)).status).toBe(404);
    const { id } = await demo.control.organisations.create({
      name: 'Northwind',
      plan: 'integrations',
      currency: 'USD',
      demo: true,
    });
    expect(await pageOf(demo)).toContain(DEMO_BUTTON);
    const entered = await continueAsDemo(demo);
    expect(leadsTo(entered)).toEqual([303, PAGE]);
    const ann = await person(demo, cookieOf(entered));
    expect((await ann.call('members')).data).toMatchObject([{ id: 'link:demo', role: 'admin' }]);
    expect((await ann.call('audit_events', { action: 'organisation.created' })).data).toHaveLength(1);
    expect(id).toBeDefined();

    const proxied = { 'x-forwarded-for': '203.0.113.7' };
    expect(await pageOf(demo, '', proxied)).not.toContain(DEMO_BUTTON);
    const crossing = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
    const refused = [
      await continueAsDemo(demo, proxied),
      await continueAsDemo(demo, crossing),
      await continueAsDemo(gateway),
    ];
    expect(refused.map(({ status }) => status)).toEqual([404, 403, 404]);
    expect(refused.flatMap(({ headers }) => headers.getSetCookie())).toEqual([]);
  });
});

test("signing out requires the session's CSRF token", async () => {
  const ann = await signIn(gateway, organisation);
  const { csrf } = await signIn(gateway, organisation);
  for (const members of [{}, { csrf: '' }, { csrf: 'x'.repeat(43) }, { csrf }])
    expect((await signOut(ann, members as Record<string, string>)).status).toBe(403);
  expect((await ann.call('keys')).data).toEqual([]);
});

test('unsupported requests to settings get a client error that is not stored, not a 500', async () => {
  for (const [request, status] of Object.entries({
    'GET /graphql': 405,
    'DELETE /integrations': 405,
    'GET /sign-out': 405,
    'GET /nothing': 404,
    'GET /sign-in/oidc': 404,
    'GET /sign-in/oidc/callback': 404,
  })) {
    const [method, path = ''] = request.split(' ');
    const { status: got, headers } = await visit(gateway, `/settings${path}`, '', method);
    expect([request, got, headers.get('cache-control')]).toEqual([request, status, 'no-store']);
  }
});

test.each([
  ['too large', { link: 'x'.repeat(40_000) }, {}, 413],
  ['in another charset', { link: 'x' }, { 'content-type': 'application/x-www-form-urlencoded; charset=utf-16' }, 415],
  ['compressed in an unknown way', { link: 'x' }, { 'content-encoding': 'x' }, 415],
  ['not compressed as it says', { link: 'x' }, { 'content-encoding': 'gzip' }, 400],
])('a form that is %s is refused', async (_what, members: Record<string, string>, headers, status) => {
  expect((await sendForm(gateway, '/settings/sign-in', members, headers)).status).toBe(status);
});

test('the audit log records who signed in and out, and from where', async () => {
  const own = await makeOrganisation(gateway);
  const ann = await signIn(gateway, own);
  await signOut(ann);
  const bob = await signIn(gateway, own, 'member', 'Bob');
  const { data } = await bob.call('audit_events');
  expect(
    data.map((event: Record<string, unknown>) => [event.action, event.actor, event.actor_name, event.from]),
  ).toEqual([
    ['user.signed_in', 'user:link:Bob', 'Bob', '127.0.0.1'],
    ['link.created', 'cli:test', null, 'here'],
    ['user.signed_out', 'user:link:Ann', 'Ann', '127.0.0.1'],
    ['user.signed_in', 'user:link:Ann', 'Ann', '127.0.0.1'],
    ['link.created', 'cli:test', null, 'here'],
    ['organisation.created', expect.stringMatching(/^cli:/), null, expect.any(String)],
  ]);
});
