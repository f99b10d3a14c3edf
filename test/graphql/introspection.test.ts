import { getIntrospectionQuery } from 'graphql';
import { type Client, client, type Json } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

const MODES = ['public', 'key', 'off'] as const;
const FULL = getIntrospectionQuery();
const TYPE = '{ __type(name: "Quote") { fields { name } } }';

/** What the server and graphql itself add; values of the SDL's own directives. */
const BARE: readonly string[] = ['Query', 'Mutation', 'HttpMethod', 'GraphqlOnly'];

type Caller = 'nobody' | 'a key' | 'a made-up key';

let gateways: Record<string, TestGateway>;
let callers: Record<string, Record<Caller, Client>>;

beforeAll(async () => {
  const started = await Promise.all(
    MODES.map(async (mode) => [mode, await startGateway({ INTROSPECTION: mode })] as const),
  );
  gateways = Object.fromEntries(started);
  const [, first] = started[0]!;
  const { key } = await makeKey(first, await makeOrganisation(first));
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
  ])('%s answers %s with %i', async (mode, who, status) => {
    for (const query of [FULL, TYPE]) {
      const answer = await callers[mode]![who].graphql(query);
      expect(answer.status).toBe(status);
      if (status === 200) expect(Object.keys(answer.body.data as object)[0]).toMatch(/^__(schema|type)$/);
      else expect(answer.body.data).toBeUndefined();
    }
  });

  test('off leaves __typename, which clients ask for by themselves', async () => {
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
  ])('public opens nothing else: %s', async (query) => {
    const { status, body, headers } = await callers.public!.nobody.graphql(query);
    expect(status).toBe(401);
    expect(headers.get('www-authenticate')).toBe('Bearer');
    expect(body.data).toBeUndefined();
    expect(body.errors[0].extensions).toMatchObject({ code: 'unauthenticated', status: 401 });
  });

  test('shows what every type, field, argument and value means', async () => {
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
