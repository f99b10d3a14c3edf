import { randomUUID } from 'node:crypto';
import { ALL_SCOPES, type Scope } from '../../src/access/scopes';
import type { Organisation } from '../../src/access/principal';
import { type Client, client, type Json } from '../support/client';
import { makeKey } from '../support/factories';
import { argumentsOf, CALLS, documentOf, facesOf, operations, RELATIONS } from '../support/operations';
import { SAME_ID, seen } from './answers';
import { startRecordedGateway, type RecordedGateway } from './commands';
import { IDS, makeStocked } from './scene';

let gateway: RecordedGateway;
let organisation: Organisation;
/** A caller for each scope, with a key that has all others. */
let callerWithout: Record<Scope, Client>;

beforeAll(async () => {
  gateway = await startRecordedGateway();
  organisation = await makeStocked(gateway);
  const callers = ALL_SCOPES.map(async (scope) => [scope, await callerWith(ALL_SCOPES.filter((one) => one !== scope))]);
  callerWithout = Object.fromEntries(await Promise.all(callers)) as typeof callerWithout;
});
afterAll(() => gateway.stop());

async function callerWith(scopes: readonly Scope[]): Promise<Client> {
  return client(gateway, (await makeKey(gateway, organisation, { scopes })).key);
}

describe('a key that lacks one scope', () => {
  test.each(ALL_SCOPES)('may call everything except what needs %s', async (scope) => {
    const caller = callerWithout[scope];
    for (const operation of operations) {
      for (const face of facesOf(operation)) {
        const error = face.errorOf(await face.call(caller, operation, argumentsOf(operation, IDS)));
        const found = { operation: operation.name, face: face.name, code: error?.code, scope: error?.required_scope };
        const refusal = operation.scope === scope ? { code: 'insufficient_scope', scope } : {};
        expect(found).toEqual({ operation: operation.name, face: face.name, ...refusal });
      }
    }
  });
});

test('a key without scopes may only call what needs none', async () => {
  const caller = await callerWith([]);
  const open: string[] = [];
  for (const operation of operations) {
    for (const face of facesOf(operation)) {
      const error = face.errorOf(await face.call(caller, operation, argumentsOf(operation, IDS)));
      if (error === undefined) open.push(`${face.name} ${operation.name}`);
      else {
        expect(error).toMatchObject({ code: 'insufficient_scope', status: 403 });
        expect(error.required_scope).toBe(operation.scope);
      }
    }
  }
  expect(open).toEqual(['REST me', 'GraphQL me', 'MCP me']);
});

test.each(operations.filter(({ anyOf }) => anyOf))('any one of its scopes is enough for $name', async (operation) => {
  for (const scope of ALL_SCOPES) {
    const caller = await callerWith([scope]);
    for (const face of facesOf(operation)) {
      const error = face.errorOf(await face.call(caller, operation, argumentsOf(operation, IDS)));
      expect(error?.code).toBe(operation.anyOf!.includes(scope) ? undefined : 'insufficient_scope');
    }
  }
});

const GUARDED = CALLS.filter(({ operation }) => operation.scope !== undefined);

/** Arguments that would get different answers with the scope: found, not found and invalid. */
const PROBES: readonly Record<string, unknown>[] = [
  {},
  { id: randomUUID() },
  { id: 'no-uuid' },
  { limit: 0 },
  { cursor: 'made-up' },
  { products: [] },
  { customers: [] },
  { text: '' },
  { group_by: Array.from({ length: 5 }, () => 'STATUS') },
  { from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' },
];

describe('without the scope', () => {
  test.each(GUARDED)(
    '$operation.name over $face.name is rejected before arguments are checked or data are read',
    async ({ operation, face }) => {
      const caller = callerWithout[operation.scope!];
      const probes = PROBES.filter((probe) =>
        Object.keys(probe).every((name) => documentOf(operation).includes(`$${name}:`)),
      );
      gateway.commands.length = 0;
      const answers = new Set<string>();
      for (const probe of probes) {
        const answer = await face.call(caller, operation, argumentsOf(operation, IDS, probe), SAME_ID);
        expect(answer.status).toBe(face.name === 'REST' ? 403 : 200);
        expect(face.errorOf(answer)).toMatchObject({
          code: 'insufficient_scope',
          status: 403,
          required_scope: operation.scope,
        });
        answers.add(JSON.stringify(seen(answer)));
      }
      expect(probes.length).toBeGreaterThan(1);
      expect(answers.size).toBe(1);
      expect(dataCommands()).toEqual([]);
    },
  );

  test.each(GUARDED)(
    '$operation.name over $face.name queries the database once the scope is granted',
    async ({ operation, face }) => {
      gateway.commands.length = 0;
      await face.call(await callerWith([operation.scope!]), operation, argumentsOf(operation, IDS));
      expect(dataCommands()).not.toEqual([]);
    },
  );

  function dataCommands(): unknown[] {
    return gateway.commands.filter(({ database }) => database.startsWith('org_'));
  }
});

describe('a missing scope in GraphQL', () => {
  test.each(operations.filter(({ kind, scope }) => kind === 'Query' && scope !== undefined))(
    'for $name is an error in a 200, next to the data of the other fields',
    async (operation) => {
      const document = documentOf(operation)
        .replace('{', '{ before: me { key { id } }')
        .replace(/\}$/, 'after: me { key { id } } }');
      const { status, body } = await callerWithout[operation.scope!].graphql(document, argumentsOf(operation, IDS));
      expect(status).toBe(200);
      expect(body.errors).toHaveLength(1);
      expect(body.errors[0]).toMatchObject({
        path: [operation.name],
        extensions: { code: 'insufficient_scope', status: 403, required_scope: operation.scope },
      });
      expect(body.data[operation.name]).toBeNull();
      expect(body.data.before.key.id).toBe(body.data.after.key.id);
    },
  );
});

describe('a relation', () => {
  test.each(RELATIONS)('$parent.$name can be read with $scope', async ({ operation, name, scope, document }) => {
    const caller = await callerWith([operation.scope!, scope]);
    const { body } = await caller.graphql(document, argumentsOf(operation, IDS));
    expect(body.errors).toBeUndefined();
    const value: Json = body.data[operation.name][name];
    expect(value.data ? value.data[0] : value).toMatchObject({ id: expect.any(String) });
  });

  test.each(RELATIONS)('$parent.$name requires $scope', async ({ operation, name, scope, document }) => {
    gateway.commands.length = 0;
    const { status, body } = await callerWithout[scope].graphql(document, argumentsOf(operation, IDS));
    expect(status).toBe(200);
    expect(body.errors).toHaveLength(1);
    expect(body.errors[0]).toMatchObject({
      path: [operation.name, name],
      extensions: { code: 'insufficient_scope', required_scope: scope },
    });
    expect(body.data[operation.name]).toEqual({ id: expect.any(String), [name]: null });
    expect(gateway.commands.filter(({ database }) => database.startsWith('org_'))).toHaveLength(1);
  });
});
