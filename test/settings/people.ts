import type { Organisation } from '../../src/auth/principal';
import type { Role } from '../../src/auth/roles';
import type { Json } from '../support/client';
import { makeOrganisation } from '../support/factories';
import { late, served, startGateway, type TestGateway } from '../support/gateway';

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
  /** Calls an operation and returns its result, or its error's extensions. */
  call(operation: keyof typeof DOCUMENTS, variables?: object, headers?: Record<string, string>): Promise<Json>;
}

const KEY = 'id name prefix last_four scopes created_by expires_at revoked_at rotated_to allowed_ranges mcp state';
const USAGE = `requests errors rate_limited mcp buckets { start requests errors rate_limited }
  operations { operation requests errors rate_limited p50_ms p95_ms } codes { code requests }`;

const DOCUMENTS = {
  api_keys: `query($state: String, $search: String, $replaced_by: ID, $expires_before: DateTime, $limit: Int, $cursor: String) {
    api_keys(state: $state, search: $search, replaced_by: $replaced_by, expires_before: $expires_before, limit: $limit, cursor: $cursor) { data { ${KEY} } replaced { ${KEY} } has_more next_cursor } }`,
  api_key: `query($id: ID!) { api_key(id: $id) { ${KEY} } }`,
  key_usage: `query($id: ID!, $period: UsagePeriod!) {
    key_usage(id: $id, period: $period) { ${USAGE} } }`,
  organisation_usage: `query($period: UsagePeriod!) { organisation_usage(period: $period) { ${USAGE} } }`,
  audit_events: `query($action: String, $key_id: ID, $limit: Int, $cursor: String) {
    audit_events(action: $action, key_id: $key_id, limit: $limit, cursor: $cursor) {
      data { id at action actor actor_name from key_id details } has_more next_cursor } }`,
  create_api_key: `mutation($name: String!, $scopes: [String!]!, $expires_at: DateTime, $allowed_ranges: [String!], $mcp: McpAccess) {
    create_api_key(name: $name, scopes: $scopes, expires_at: $expires_at, allowed_ranges: $allowed_ranges, mcp: $mcp) {
      key api_key { ${KEY} } } }`,
  rotate_api_key: `mutation($id: ID!, $overlap_hours: Int) {
    rotate_api_key(id: $id, overlap_hours: $overlap_hours) { key api_key { ${KEY} } old { id expires_at state } } }`,
  update_api_key: `mutation($id: ID!, $name: String, $expires_at: DateTime, $allowed_ranges: [String!], $mcp: McpAccess) {
    update_api_key(id: $id, name: $name, expires_at: $expires_at, allowed_ranges: $allowed_ranges, mcp: $mcp) { ${KEY} } }`,
  revoke_api_key: `mutation($id: ID!) { revoke_api_key(id: $id) { ${KEY} } }`,
};

/** A gateway and an organisation, with a signed-in user of each role. */
export interface Office {
  readonly gateway: TestGateway;
  readonly organisation: Organisation;
  readonly admin: Person;
  readonly member: Person;
}

export async function openOffice(): Promise<Office> {
  const gateway = await startGateway();
  const organisation = await makeOrganisation(gateway);
  const admin = await signIn(gateway, organisation, 'admin', 'Ada');
  const member = await signIn(gateway, organisation, 'member', 'Max');
  return { gateway, organisation, admin, member };
}

/** The office of the tests of a file, open from before the first until after the last. */
export function useOffice(): Office {
  const gateway = served();
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
export async function person(gateway: TestGateway, cookie: string): Promise<Person> {
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
    async call(operation, variables, headers) {
      const { body } = await graphql(DOCUMENTS[operation], variables, headers);
      return body.errors ? body.errors[0].extensions : body.data[operation];
    },
  };
}

/** The token of a new link. */
export async function makeLink(
  gateway: TestGateway,
  organisation: Organisation,
  role: Role = 'admin',
  name = 'Ann',
): Promise<string> {
  const user = { id: `link:${name}`, name };
  const made = await gateway.control.sessions.makeLink(
    { organisationId: organisation.id, user, role },
    { who: 'cli:test', from: 'here' },
  );
  return made!.token;
}

/** Sends a request as a browser would, without following redirects. */
export function visit(gateway: TestGateway, path: string, cookie = '', method = 'GET'): Promise<Response> {
  return fetch(gateway.url + path, { method, headers: { accept: 'text/html', cookie }, redirect: 'manual' });
}

/** Submits the form of a link's page. */
export function sendLink(gateway: TestGateway, link: string, headers: Record<string, string> = {}): Promise<Response> {
  return sendForm(gateway, '/settings/sign-in', { link }, headers);
}

export function sendForm(
  gateway: TestGateway,
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
