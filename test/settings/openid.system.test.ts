import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { freePort } from '../../faults/processes';
import type { Organisation } from '../../src/auth/principal';
import { firstLine } from '../cli/commandLine';
import { makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway, withGateway } from '../support/gateway';
import { person, visit } from './people';

const CLIENT = { client_id: 'scopegate', client_secret: 'a secret of the client and its issuer' };
const START = '/settings/sign-in/oidc';

let gateway: TestGateway;
let organisation: Organisation;
let provider: ChildProcess;
let issuer: string;
let accounts: Record<string, object>;

beforeAll(async () => {
  const PORT = String(await freePort());
  const url = `http://127.0.0.1:${PORT}`;
  const control = await startGateway();
  organisation = await makeOrganisation(control);
  await control.stop();
  const own = { scopegate_organisation: organisation.id };
  accounts = {
    ada: { ...own, name: 'Ada Lovelace', scopegate_role: 'admin' },
    max: { ...own, name: 'Max', scopegate_role: ['guest', 'member'] },
    both: { ...own, scopegate_role: ['member', 'admin'] },
    'no role': { ...own },
    'an unknown role': { ...own, scopegate_role: 'owner' },
    'no organisation': { scopegate_role: 'admin' },
    'an organisation by name': { scopegate_organisation: 'Test', scopegate_role: 'admin' },
    'an unknown organisation': {
      scopegate_organisation: '00000000-0000-4000-8000-000000000000',
      scopegate_role: 'admin',
    },
  };
  ({ provider, issuer } = await startProvider(url));
  gateway = await startGateway({ ...environmentOf(issuer, url), PORT });
}, 120_000);
afterAll(async () => {
  await gateway.stop();
  await stopProvider(provider);
});

function environmentOf(OIDC_ISSUER: string, PUBLIC_URL: string): Record<string, string> {
  return {
    ...{ OIDC_ISSUER, PUBLIC_URL, OIDC_CLIENT_ID: CLIENT.client_id, OIDC_CLIENT_SECRET: CLIENT.client_secret },
    OIDC_SCOPES: 'openid profile scopegate',
  };
}

async function startProvider(url: string): Promise<{ provider: ChildProcess; issuer: string }> {
  const client = { ...CLIENT, redirect_uris: [`${url}${START}/callback`] };
  const child = spawn(process.execPath, [join(__dirname, 'provider.mjs')], {
    env: { PATH: process.env.PATH, CLIENT: JSON.stringify(client), ACCOUNTS: JSON.stringify(accounts) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { provider: child, issuer: await firstLine(child) };
}

async function stopProvider(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

/** A minimal browser: cookies per host, redirects one at a time. */
class Visitor {
  readonly cookies = new Map<string, Map<string, string>>();

  async ask(url: string, form?: Record<string, string>): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.cookies.get(host) ?? new Map<string, string>();
    this.cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { cookie, accept: 'text/html' },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (value === '' || /max-age=0|expires=thu, 01 jan 1970/i.test(set)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** Follows redirects until one leads to `stop` or a page. */
  async follow(url: string, stop: string): Promise<{ url: string; response: Response }> {
    let at = url;
    for (;;) {
      if (at.startsWith(stop)) return { url: at, response: new Response() };
      const response = await this.ask(at);
      const to = response.headers.get('location');
      if (to === null) return { url: at, response };
      at = new URL(to, at).href;
    }
  }
}

/** Signs in at the provider and returns the callback URL, without opening it. */
async function goThere(visitor: Visitor, login: string): Promise<string> {
  const callback = `${gateway.url}${START}/callback`;
  let { url, response } = await visitor.follow(gateway.url + START, callback);
  for (const form of [{ prompt: 'login', login, password: 'any' }, { prompt: 'consent' }]) {
    const action = /action="([^"]+)"/.exec(await response.text())?.[1];
    if (action === undefined) throw new Error(`no form at ${url}`);
    const submitted = await visitor.ask(new URL(action, url).href, form);
    ({ url, response } = await visitor.follow(new URL(submitted.headers.get('location')!, url).href, callback));
  }
  return url;
}

async function cookieOfLogin(login: string): Promise<{ visitor: Visitor; answer: Response; callback: string }> {
  const visitor = new Visitor();
  const callback = await goThere(visitor, login);
  return { visitor, callback, answer: await visitor.ask(callback) };
}

function sessionOf(visitor: Visitor): string {
  const jar = visitor.cookies.get(new URL(gateway.url).host);
  return `scopegate_session=${jar?.get('scopegate_session') ?? ''}`;
}

describe('signing in with an OpenID provider', () => {
  test.each([
    ['ada', 'admin', 'Ada Lovelace'],
    ['max', 'member', 'Max'],
    ['both', 'admin', 'both'],
  ])('signs %s in as %s, with the organisation and name in the claims', async (login, role, name) => {
    const { visitor, answer } = await cookieOfLogin(login);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings/integrations']);
    const there = await person(gateway, sessionOf(visitor));
    const page = await (await visit(gateway, '/settings/integrations', there.cookie)).text();
    expect(page).toContain(`${name} <span class="tag">${role}</span>`);
    const { data } = await there.call('audit_events', { limit: 1 });
    expect(data).toMatchObject([{ action: 'user.signed_in', actor: `user:oidc:${login}`, actor_name: name }]);
  });

  test.each([
    ['no role', 'scopegate_role'],
    ['an unknown role', 'scopegate_role'],
    ['no organisation', 'scopegate_organisation'],
    ['an organisation by name', 'scopegate_organisation'],
    ['an unknown organisation', 'returned an unknown organisation'],
  ])('rejects an account with %s, and says why', async (login, said) => {
    const { visitor, answer } = await cookieOfLogin(login);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain(said);
    expect(sessionOf(visitor)).toBe('scopegate_session=');
  });

  test('sends a new PKCE challenge, state and nonce each time, and hides them from scripts', async () => {
    const [first, second] = await Promise.all([0, 1].map(() => new Visitor().ask(gateway.url + START)));
    const [one, two] = [first!, second!].map((answer) => new URL(answer.headers.get('location')!).searchParams);
    expect(one!.get('code_challenge_method')).toBe('S256');
    expect(one!.get('redirect_uri')).toBe(`${gateway.url}${START}/callback`);
    for (const name of ['state', 'nonce', 'code_challenge']) {
      expect(one!.get(name)).toMatch(/^[\w-]{43}$/);
      expect(one!.get(name)).not.toBe(two!.get(name));
    }
    expect(first!.headers.getSetCookie()[0]).toMatch(/; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
  });

  test('is rejected with another state, another browser’s attempt, or no attempt', async () => {
    const visitor = new Visitor();
    const callback = await goThere(visitor, 'ada');
    const other = new Visitor();
    await other.ask(gateway.url + START);
    const changed = new URL(callback);
    changed.searchParams.set('state', 'x'.repeat(43));
    for (const [who, url] of [
      [new Visitor(), callback],
      [other, callback],
      [visitor, changed.href],
    ] as const) {
      const answer = await who.ask(url);
      expect(answer.status).toBe(403);
      expect(sessionOf(who)).toBe('scopegate_session=');
    }
  });

  test('is rejected when a code is used twice', async () => {
    const { visitor, answer, callback } = await cookieOfLogin('ada');
    expect(answer.status).toBe(303);
    await visitor.ask(`${gateway.url}/settings/sign-in/oidc`);
    expect((await visitor.ask(callback)).status).toBe(403);
  });

  test('is rejected with the nonce or verifier of another attempt', async () => {
    for (const part of [1, 2]) {
      const visitor = new Visitor();
      const callback = await goThere(visitor, 'ada');
      const jar = visitor.cookies.get(new URL(gateway.url).host)!;
      const parts = jar.get('scopegate_sign_in')!.split('.');
      parts[part] = 'y'.repeat(43);
      jar.set('scopegate_sign_in', parts.join('.'));
      expect((await visitor.ask(callback)).status).toBe(403);
    }
  });

  test('is rejected when the user denies access', async () => {
    const visitor = new Visitor();
    const started = await visitor.ask(gateway.url + START);
    const state = new URL(started.headers.get('location')!).searchParams.get('state')!;
    const denied = `${gateway.url}${START}/callback?error=access_denied&state=${state}&iss=${encodeURIComponent(issuer)}`;
    expect((await visitor.ask(denied)).status).toBe(403);
  });

  test('logs no code, token or secret', () => {
    const lines = JSON.stringify(gateway.logs);
    expect(lines).not.toMatch(/code=|id_token|access_token"/);
    expect(lines).not.toContain(CLIENT.client_secret);
  });
});

test('the sign-in page offers the provider if one is configured', async () => {
  expect(await (await visit(gateway, '/settings/sign-in')).text()).toContain('href="/settings/sign-in/oidc"');
});

test('while the provider is down, signing in with it gets 503, and other pages are served', async () => {
  await withGateway(environmentOf('http://127.0.0.1:9', gateway.url), async (away) => {
    expect((await visit(away, START)).status).toBe(503);
    expect((await visit(away, '/settings/sign-in')).status).toBe(200);
  });
});
