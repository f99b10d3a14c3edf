import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { freePort } from '../../../faults/processes';
import { launch } from '../../packages/examples/run';
import { eventually } from '../../api/http/eventually';
import { makeOrganisation } from '../../support/factories';
import { startGateway, type TestGateway, withGateway } from '../../support/gateway';
import { person, visit } from './people';

const CLIENT = { client_id: 'scopegate', client_secret: 'a secret of the client and its issuer' };
const JSON_TYPE = { 'content-type': 'application/json' };
const START = '/settings/sign-in/oidc';

let gateway: TestGateway;
let provider: ReturnType<typeof launch>;
let issuer: string;

beforeAll(async () => {
  const PORT = String(await freePort());
  const url = `http://127.0.0.1:${PORT}`;
  const control = await startGateway();
  const organisation = await makeOrganisation(control);
  await control.stop();
  const ada = { scopegate_organisation: organisation.id, name: 'Ada Lovelace', scopegate_role: 'admin' };
  const client = { ...CLIENT, redirect_uris: [`${url}${START}/callback`] };
  const env = { CLIENT: JSON.stringify(client), ACCOUNTS: JSON.stringify({ ada }) };
  provider = launch(process.execPath, [join(__dirname, 'provider.mjs')], { env });
  issuer = await eventually(() => /^(\S+)\n/.exec(provider.stdout())?.[1], 120_000);
  gateway = await startGateway({ ...environmentOf(issuer, url), PORT });
});
afterAll(async () => {
  await gateway.stop();
  await provider.kill();
});

function environmentOf(OIDC_ISSUER: string, PUBLIC_URL: string): Record<string, string> {
  return {
    OIDC_ISSUER,
    PUBLIC_URL,
    OIDC_CLIENT_ID: CLIENT.client_id,
    OIDC_CLIENT_SECRET: CLIENT.client_secret,
    OIDC_SCOPES: 'openid profile scopegate',
  };
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

function sessionOf(visitor: Visitor): string {
  const jar = visitor.cookies.get(new URL(gateway.url).host);
  return `scopegate_session=${jar?.get('scopegate_session') ?? ''}`;
}

describe('signing in with an OpenID provider', () => {
  test('signs in whom the claims name', async () => {
    const visitor = new Visitor();
    await visitor.ask(`${gateway.url}/settings/audit`);
    const answer = await visitor.ask(await goThere(visitor, 'ada'));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/settings/audit']);
    const there = await person(gateway, sessionOf(visitor));
    const page = await (await visit(gateway, '/settings/integrations', there.cookie)).text();
    expect(page).toContain('Ada Lovelace</strong> <small>admin</small>');
    const { data } = await there.call('audit_events', { limit: 1 });
    expect(data).toMatchObject([{ action: 'user.signed_in', actor: 'user:oidc:ada', actor_name: 'Ada Lovelace' }]);
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

  test('can be finished in the tab that started it last, after one of another tab was refused', async () => {
    const visitor = new Visitor();
    const first = await goThere(visitor, 'ada');
    const { url: second } = await visitor.follow(gateway.url + START, `${gateway.url}${START}/callback`);
    const refused = await visitor.ask(first);
    expect([refused.status, refused.headers.getSetCookie()]).toEqual([403, []]);
    expect(await refused.text()).toContain('Another sign-in was started after this one.');
    expect((await visitor.ask(second)).status).toBe(303);
    expect((await visitor.ask(second)).status).toBe(403);
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

test('a provider that fails while somebody returns from it is a 503, unless it refuses the sign-in', async () => {
  const answers: ((response: ServerResponse) => unknown)[] = [
    (response) => response.writeHead(503).end(),
    (response) => response.writeHead(500, JSON_TYPE).end('{"error":"server_error"}'),
    (response) => response.destroy(),
    (response) => response.writeHead(400, JSON_TYPE).end('{"error":"invalid_grant"}'),
  ];
  const server = createServer(({ url }, response) => {
    if (url === '/token') answers.shift()!(response);
    else {
      const metadata = {
        issuer: failing,
        authorization_endpoint: `${failing}/authorize`,
        token_endpoint: `${failing}/token`,
      };
      response.writeHead(200, JSON_TYPE).end(JSON.stringify(metadata));
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const failing = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  await withGateway(environmentOf(failing, gateway.url), async (away) => {
    const statuses = [];
    while (answers.length > 0) {
      const visitor = new Visitor();
      const started = await visitor.ask(away.url + START);
      const state = new URL(started.headers.get('location')!).searchParams.get('state')!;
      statuses.push((await visitor.ask(`${away.url}${START}/callback?code=c&state=${state}`)).status);
    }
    expect(statuses).toEqual([503, 503, 503, 403]);
    expect(away.logs.filter(({ reason }) => reason === 'sign_in')).toHaveLength(3);
  });
  server.closeAllConnections();
  server.close();
});

test('while the provider is down, signing in with it gets 503, and other pages are served', async () => {
  await withGateway(environmentOf('http://127.0.0.1:9', gateway.url), async (away) => {
    expect((await visit(away, START)).status).toBe(503);
    expect((await visit(away, '/settings/sign-in')).status).toBe(200);
  });
});
