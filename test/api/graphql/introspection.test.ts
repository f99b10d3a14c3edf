import { buildSchema, getIntrospectionQuery } from 'graphql';
import { publishedSchemas } from '../../../src/gateway/schemas';
import { type Client, client, type Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { eventually } from '../http/eventually';
import { metric, served, startGateway, type TestGateway } from '../../support/gateway';

const MODES = ['public', 'key', 'off'] as const;
const FULL = getIntrospectionQuery();
const TYPE = '{ __type(name: "Quote") { fields { name } } }';

/** Types added by the server and graphql, and enums of the SDL's own directives. */
const BARE: readonly string[] = ['Query', 'Mutation', 'Subscription', 'HttpMethod', 'GraphqlOnly'];

type Caller = 'nobody' | 'a key' | 'a made-up key';

let key: string;
let gateways: Record<string, TestGateway>;
let callers: Record<string, Record<Caller, Client>>;

beforeAll(async () => {
  const started = await Promise.all(
    MODES.map(async (mode) => [mode, await startGateway({ INTROSPECTION: mode })] as const),
  );
  gateways = Object.fromEntries(started);
  const [, first] = started[0]!;
  ({ key } = await makeKey(first, await makeOrganisation(first)));
  callers = Object.fromEntries(
    started.map(([mode, gateway]) => [
      mode,
      { nobody: client(gateway), 'a key': client(gateway, key), 'a made-up key': client(gateway, 'made-up') },
    ]),
  );
});
afterAll(() => Promise.all(Object.values(gateways).map((gateway) => gateway.stop())));

describe('INTROSPECTION', () => {
  test.each<[(typeof MODES)[number], Caller, number]>([
    ['public', 'nobody', 200],
    ['public', 'a key', 200],
    ['public', 'a made-up key', 401],
    ['key', 'nobody', 401],
    ['key', 'a key', 200],
    ['key', 'a made-up key', 401],
    ['off', 'nobody', 401],
    ['off', 'a key', 400],
    ['off', 'a made-up key', 401],
  ])('%s: caller "%s" gets %i', async (mode, who, status) => {
    for (const query of [FULL, TYPE]) {
      const answer = await callers[mode]![who].graphql(query);
      expect(answer.status).toBe(status);
      if (status === 200) expect(Object.keys(answer.body.data as object)[0]).toMatch(/^__(schema|type)$/);
      else expect(answer.body.data).toBeUndefined();
    }
  });

  test.each<[(typeof MODES)[number], Caller, number]>([
    ['public', 'nobody', 200],
    ['public', 'a made-up key', 401],
    ['key', 'nobody', 401],
    ['key', 'a key', 200],
    ['off', 'a key', 404],
  ])('%s: the schema as text gets caller "%s" %i', async (mode, who, status) => {
    const authorization = { nobody: undefined, 'a key': `Bearer ${key}`, 'a made-up key': 'Bearer made-up' }[who];
    const answer = await fetch(`${gateways[mode]!.url}/graphql/schema.graphql`, {
      headers: { ...(authorization !== undefined && { authorization }) },
    });
    expect(answer.status).toBe(status);
    const text = await answer.text();
    if (status !== 200) return;
    const schema = buildSchema(text);
    expect(schema.getSubscriptionType()?.getFields()).toHaveProperty('events');
    const names = [schema.getQueryType(), schema.getMutationType()].flatMap((root) => Object.keys(root!.getFields()));
    const ofKeys = publishedSchemas().operations.filter(({ role }) => role === undefined);
    expect(names.sort()).toEqual(ofKeys.map(({ name }) => name).sort());
    expect(text).not.toMatch(/ApiKey|AuditEvent|directive @/);
    expect(text).toContain('A date and time in ISO 8601 UTC');
  });

  test.each(MODES)('%s: a subscription of nobody is 401, whatever it accepts', async (mode) => {
    for (const accept of ['text/event-stream', 'application/json']) {
      const { status, headers } = await callers[mode]!.nobody.graphql('subscription { events { id } }', {}, { accept });
      expect([status, headers.get('www-authenticate')]).toEqual([401, expect.stringContaining('Bearer')]);
    }
  });

  test('off still allows __typename, which clients add automatically', async () => {
    const { body } = await callers.off!['a key'].graphql('{ __typename me { __typename } }');
    expect(body).toEqual({ data: { __typename: 'Query', me: { __typename: 'Me' } } });
  });

  test.each([
    '{ me { key { id } } }',
    '{ __typename me { key { id } } }',
    '{ ...A } fragment A on Query { __typename ...B } fragment B on Query { products { has_more } }',
    '{ ... { ... on Query { me { key { id } } } } }',
    '{ __typename me @skip(if: true) { key { id } } }',
    'mutation { __typename }',
    'mutation { open_request(text: "Hello") { id } }',
  ])('public allows nothing else without a key: %s', async (query) => {
    const { status, body, headers } = await callers.public!.nobody.graphql(query);
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(body.data).toBeUndefined();
    expect(body.errors[0].extensions).toMatchObject({ code: 'unauthenticated', status: 401 });
  });

  test('has a description for every type, field, argument and enum value', async () => {
    const { body } = await callers.key!['a key'].graphql(FULL);
    const types = (body.data.__schema.types as Json[]).filter(
      ({ name }) => !name.startsWith('__') && !BARE.includes(name),
    );
    const wordless = types.flatMap(({ name, description, fields, inputFields, enumValues }) => [
      ...(description ? [] : [name]),
      ...[...(fields ?? []), ...(inputFields ?? []), ...(enumValues ?? [])].flatMap((member: Json) =>
        [member, ...(member.args ?? [])].filter((one) => !one.description).map((one) => [name, one.name].join('.')),
      ),
    ]);
    expect(types.length).toBeGreaterThan(30);
    expect(wordless).toEqual([]);
  });
});

describe('public introspection', () => {
  const LIMIT = 5;

  /** A separate gateway behind one trusted proxy; each test has addresses of its own. */
  const gateway = served({ INTROSPECTION: 'public', RATE_LIMIT_PER_MINUTE: String(LIMIT), TRUST_PROXY: '1' });

  const from = (address: string): Record<string, string> => ({ 'x-forwarded-for': address });

  test('is limited by address, or by IPv6 /64 network', async () => {
    const caller = client(gateway);
    for (const [query, status] of [
      [TYPE, 200],
      ['{ me { key { id } } }', 401],
      ['{', 400],
      [FULL, 200],
      [TYPE, 200],
    ] as const)
      expect((await caller.graphql(query, {}, from('2001:db8::1'))).status).toBe(status);
    const refused = await caller.graphql(TYPE, {}, from('2001:db8::2'));
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toMatch(/^[1-9]\d?$/);
    expect(refused.body.errors[0].extensions).toMatchObject({ code: 'rate_limited', status: 429 });
    expect((await caller.graphql(TYPE, {}, from('2001:db8:0:1::1'))).status).toBe(200);
  });

  test('and failed authentication have separate limits, which do not affect keys', async () => {
    const wrong = client(gateway, 'made-up');
    for (let time = 0; time < LIMIT; time += 1) {
      expect((await client(gateway).graphql(TYPE, {}, from('192.0.2.1'))).status).toBe(200);
      expect((await wrong.graphql(TYPE, {}, from('192.0.2.1'))).status).toBe(401);
    }
    expect((await client(gateway).graphql(TYPE, {}, from('192.0.2.1'))).status).toBe(429);
    expect((await wrong.graphql(TYPE, {}, from('192.0.2.1'))).status).toBe(429);
    const { key } = await makeKey(gateway, await makeOrganisation(gateway));
    const { status, headers } = await client(gateway, key).graphql(TYPE, {}, from('192.0.2.1'));
    expect([status, headers.get('x-ratelimit-remaining')]).toEqual([200, String(LIMIT - 1)]);
  });

  test('a query of data without a key lacks a key, and no session', async () => {
    const { headers } = await client(gateway).graphql('{ me { key { id } } }');
    const id = headers.get('x-request-id');
    const line = await eventually(() => gateway.logs.find(({ request_id }) => request_id === id));
    expect(line).toMatchObject({ status: 401, reason: 'missing' });
    expect(await metric(gateway, 'scopegate_http_requests_unauthenticated_total{reason="missing"}')).toBeGreaterThan(0);
  });
});
