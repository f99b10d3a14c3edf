import type { Organisation } from '../../../src/auth/principal';
import type { Role } from '../../../src/auth/roles';
import type { Json } from '../../support/client';
import { makeOrganisation } from '../../support/factories';
import { late, served, type TestGateway } from '../../support/gateway';
import { documentOf, userOperations } from '../../support/operations';

/* Signed-in users who act like browsers. */

interface PersonAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Json;
}

export interface Person {
  /** The browser's Cookie header. */
  readonly cookie: string;
  readonly csrf: string;
  /** Sends a query as the settings page would. */
  graphql(query: string, variables?: object, headers?: Record<string, string>): Promise<PersonAnswer>;
  /** Calls an operation and returns its result, or its error's message and extensions; without when a key was last used, which is noted later. */
  readonly call: (operation: string, variables?: object, headers?: Record<string, string>) => Promise<Json>;
}

/** A gateway and an organisation with a signed-in user of each role, for the tests of a file or describe. */
export function useOffice(environment: Record<string, string> = {}) {
  const gateway = served(environment);
  const organisation = late(() => makeOrganisation(gateway));
  const admin = late(() => signIn(gateway, organisation, 'admin', 'Ada'));
  const member = late(() => signIn(gateway, organisation, 'member', 'Max'));
  return { gateway, organisation, admin, member };
}

/** Signs in with a new link. */
export async function signIn(
  gateway: TestGateway,
  organisation: Organisation,
  role: Role = 'admin',
  name = 'Ann',
): Promise<Person> {
  const link = await makeLink(gateway, organisation, role, name);
  return person(gateway, cookieOf(await sendLink(gateway, link)));
}

/** Continues a session with its cookie. */
export async function person(gateway: Pick<TestGateway, 'url'>, cookie: string): Promise<Person> {
  const page = await (await visit(gateway, '/settings/integrations', cookie)).text();
  const csrf = /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
  const graphql: Person['graphql'] = async (query, variables = {}, headers = {}) => {
    const response = await fetch(`${gateway.url}/settings/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', cookie, 'x-csrf-token': csrf, ...headers },
      body: JSON.stringify({ query, variables }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  return {
    cookie,
    csrf,
    graphql,
    async call(name, variables, headers) {
      const operation = userOperations.find((one) => one.name === name)!;
      const document = documentOf(operation).replaceAll(/ last_used_\w+/g, '');
      const { body } = await graphql(document, variables, headers);
      if (!body.errors) return body.data[name];
      const [{ message, extensions }] = body.errors;
      return { message, ...extensions };
    },
  };
}

/** The token of a new link. */
export async function makeLink(
  gateway: TestGateway,
  organisation: Organisation,
  role: Role = 'admin',
  name = 'Ann',
  returnTo?: string,
): Promise<string> {
  const user = { id: `link:${name}`, name };
  const made = await gateway.control.sessions.makeLink(
    { organisationId: organisation.id, user, role, returnTo },
    { who: 'cli:test', from: 'here' },
  );
  return made!.token;
}

/** Sends a request as a browser would, without following redirects. */
export function visit(gateway: Pick<TestGateway, 'url'>, path: string, cookie = '', method = 'GET'): Promise<Response> {
  return fetch(gateway.url + path, { method, headers: { accept: 'text/html', cookie }, redirect: 'manual' });
}

/** Submits the form of a link's page. */
export function sendLink(
  gateway: Pick<TestGateway, 'url'>,
  link: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return sendForm(gateway, '/settings/sign-in', { link }, headers);
}

export function sendForm(
  gateway: Pick<TestGateway, 'url'>,
  path: string,
  members: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: 'POST',
    headers: { accept: 'text/html', ...headers },
    body: new URLSearchParams(members),
    redirect: 'manual',
  });
}

/** The session cookie set by an answer, as a Cookie header. */
export function cookieOf(response: Response): string {
  return response.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
}
