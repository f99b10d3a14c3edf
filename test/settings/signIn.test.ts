import { MINUTE } from '../../src/units';
import { makeOrganisation } from '../support/factories';
import { late, served, withGateway } from '../support/gateway';
import { cookieOf, makeLink, person, sendForm, sendLink, signIn, visit } from './people';

const gateway = served();
const organisation = late(() => makeOrganisation(gateway, { name: 'Acme & <Sons>' }));

const PAGE = '/settings/integrations';

function links() {
  return gateway.databases.control.collection<{ _id: string }>('sign_in_links');
}

function sessions() {
  return gateway.databases.control.collection<{ _id: string }>('sessions');
}

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
    expect([entered.status, entered.headers.get('location')]).toEqual([303, PAGE]);
    expect((await visit(gateway, PAGE, cookieOf(entered))).status).toBe(200);

    const again = await sendLink(gateway, link);
    expect([again.status, again.headers.getSetCookie()]).toEqual([410, []]);
    expect(await again.text()).toContain('has been used or has expired');
  });

  test('signs in only one of several concurrent uses', async () => {
    const link = await makeLink(gateway, organisation);
    const answers = await Promise.all([0, 1, 2, 3].map(() => sendLink(gateway, link)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410, 410, 410]);
  });

  test('that has expired is rejected, even if not deleted yet', async () => {
    const link = await makeLink(gateway, organisation);
    // the database's clock, which is the one that counts, may be a little behind
    await links().updateMany({}, { $set: { ends_at: new Date(Date.now() - 5000) } });
    expect((await sendLink(gateway, link)).status).toBe(410);
  });

  test('is valid for 15 minutes, and its token is not stored', async () => {
    const made = await gateway.control.sessions.makeLink(
      { organisationId: organisation.id, user: { id: 'link:x', name: 'x' }, role: 'member' },
      { who: 'cli:test', from: 'here' },
    );
    expect(Math.abs(made!.endsAt.getTime() - Date.now() - 15 * 60_000)).toBeLessThan(30_000);
    const cookie = cookieOf(await sendLink(gateway, await makeLink(gateway, organisation)));
    const stored = JSON.stringify([await links().find().toArray(), await sessions().find().toArray()]);
    expect(stored).not.toContain(made!.token);
    expect(stored).not.toContain(cookie.split('=')[1]);
  });

  test('cannot be created for an unknown organisation', async () => {
    const session = { organisationId: 'nothing', user: { id: 'link:x', name: 'x' }, role: 'admin' } as const;
    expect(await gateway.control.sessions.makeLink(session, { who: 'cli:test', from: 'here' })).toBeUndefined();
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

describe('the cookie', () => {
  test('is HttpOnly, SameSite and only for this host', async () => {
    const entered = await sendLink(gateway, await makeLink(gateway, organisation));
    const [set = ''] = entered.headers.getSetCookie();
    expect(set).toMatch(/^scopegate_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('is __Host- and Secure if PUBLIC_URL is https', async () => {
    await withGateway({ PUBLIC_URL: 'https://keys.example' }, async (secure) => {
      const entered = await sendLink(secure, await makeLink(secure, organisation), { origin: 'https://keys.example' });
      const [set = ''] = entered.headers.getSetCookie();
      expect(set).toMatch(
        /^__Host-scopegate_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
      );
      expect((await visit(secure, PAGE, cookieOf(entered))).status).toBe(200);
      const plain = cookieOf(entered).replace('__Host-', '');
      expect((await visit(secure, PAGE, plain)).status).toBe(303);
    });
  });
});

describe('a session', () => {
  test('that is signed out ends immediately, on every instance', async () => {
    const ann = await signIn(gateway, organisation);
    await withGateway({}, async (other) => {
      const there = await person(other, ann.cookie);
      expect((await there.call('api_keys')).data).toEqual([]);
      const out = await sendForm(gateway, '/settings/sign-out', { csrf: ann.csrf }, { cookie: ann.cookie });
      expect([out.status, out.headers.get('location')]).toEqual([303, '/settings/sign-in']);
      expect(out.headers.getSetCookie()[0]).toContain('Max-Age=0');
      expect(await there.call('api_keys')).toMatchObject({ code: 'unauthenticated', status: 401 });
      const page = await visit(other, PAGE, ann.cookie);
      expect([page.status, page.headers.get('location')]).toEqual([303, '/settings/sign-in']);
    });
  });

  test('signed out everywhere ends all sessions and links of its user, and no one else’s', async () => {
    const [here, there] = [
      await signIn(gateway, organisation, 'admin', 'Eve'),
      await signIn(gateway, organisation, 'admin', 'Eve'),
    ];
    const link = await makeLink(gateway, organisation, 'admin', 'Eve');
    const [bob, elsewhere] = [
      await signIn(gateway, organisation, 'member', 'Bob'),
      await signIn(gateway, await makeOrganisation(gateway), 'admin', 'Eve'),
    ];
    await sendForm(gateway, '/settings/sign-out', { csrf: here.csrf, everywhere: '1' }, { cookie: here.cookie });
    for (const one of [here, there]) expect((await one.call('api_keys')).code).toBe('unauthenticated');
    expect((await sendLink(gateway, link)).status).toBe(410);
    for (const one of [bob, elsewhere]) expect((await one.call('api_keys')).data).toEqual([]);
  });

  test('that has expired is rejected, even if not deleted yet', async () => {
    const ann = await signIn(gateway, organisation, 'admin', 'Idle');
    await sessions().updateOne({ 'user.id': 'link:Idle' }, { $set: { ends_at: new Date(Date.now() - MINUTE) } });
    expect((await ann.call('api_keys')).code).toBe('unauthenticated');
  });

  test('in use is extended, but never beyond 12 hours', async () => {
    const ann = await signIn(gateway, organisation, 'admin', 'Busy');
    const HOUR = 3_600_000;
    const created = Date.now() - 11.5 * HOUR;
    const used = { created_at: new Date(created), used_at: new Date(Date.now() - HOUR / 2) };
    await sessions().updateOne({ 'user.id': 'link:Busy' }, { $set: used });
    expect((await ann.call('api_keys')).data).toEqual([]);
    const stored = (await sessions().findOne({ 'user.id': 'link:Busy' } as object)) as unknown as { ends_at: Date };
    expect(stored.ends_at.getTime()).toBe(created + 12 * HOUR);
  });

  test.each(['', 'nonsense', 'x'.repeat(43)])('with the cookie %j does not exist', async (token) => {
    const page = await visit(gateway, PAGE, `scopegate_session=${token}`);
    expect([page.status, page.headers.get('location')]).toEqual([303, '/settings/sign-in']);
  });
});

test("signing out requires the session's CSRF token", async () => {
  const ann = await signIn(gateway, organisation);
  for (const members of [
    {},
    { csrf: '' },
    { csrf: 'x'.repeat(43) },
    { csrf: (await signIn(gateway, organisation)).csrf },
  ]) {
    expect(
      (await sendForm(gateway, '/settings/sign-out', members as Record<string, string>, { cookie: ann.cookie })).status,
    ).toBe(403);
  }
  expect((await ann.call('api_keys')).data).toEqual([]);
});

test('unsupported requests to settings get a client error, not a 500', async () => {
  const cases: [string, string, number][] = [
    ['GET', '/settings/graphql', 405],
    ['DELETE', '/settings/integrations', 405],
    ['GET', '/settings/sign-out', 405],
    ['GET', '/settings/nothing', 404],
    ['GET', '/settings/sign-in/oidc', 404],
    ['GET', '/settings/sign-in/oidc/callback', 404],
  ];
  for (const [method, path, status] of cases)
    expect([path, (await visit(gateway, path, '', method)).status]).toEqual([path, status]);
  const large = await sendForm(gateway, '/settings/sign-in', { link: 'x'.repeat(5000) });
  expect(large.status).toBe(400);
});

test('the audit log records who signed in and out, and from where', async () => {
  const own = await makeOrganisation(gateway);
  const ann = await signIn(gateway, own);
  await sendForm(gateway, '/settings/sign-out', { csrf: ann.csrf }, { cookie: ann.cookie });
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
