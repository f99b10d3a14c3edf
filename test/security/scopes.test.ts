import { allScopes, type Scope } from '../../src/auth/scopes';
import type { Operation } from '../../src/schema/declaredOperations';
import type { Answer, Client, Json } from '../support/client';
import { callerOf } from '../support/factories';
import { argumentsOf, documentOf, type Face, facesOf, operations, RELATIONS } from '../support/operations';
import { startRecordedGateway } from './commands';
import { IDS, makeStocked, SAME_ID, seen } from '../support/fixtures/contract';
import { late, servedBy } from '../support/gateway';

/* What scopes allow. test/security/attacks/matrix.test.ts tests that each operation and relation rejects keys without its scope. */

const gateway = servedBy(startRecordedGateway);
const organisation = late(() => makeStocked(gateway));

async function callerWith(scopes: readonly Scope[]): Promise<Client> {
  return callerOf(gateway, organisation, { scopes });
}

const callerWithout = (scope: Scope): Promise<Client> => callerWith(allScopes().filter((one) => one !== scope));

/** Calls an operation, and returns how many commands reached the organisation's database. */
async function watched(work: () => Promise<Answer>): Promise<{ answer: Answer; commands: number }> {
  gateway.commands.length = 0;
  const answer = await work();
  return { answer, commands: gateway.commands.filter(({ database }) => database.startsWith('org_')).length };
}

/** What a key gets from an operation, over each API. */
async function outcomes(caller: Client, operation: Operation): Promise<object[]> {
  const found: object[] = [];
  for (const face of facesOf(operation)) {
    const { answer, commands } = await watched(() => face.call(caller, operation, argumentsOf(operation, IDS)));
    const code = face.errorOf(answer)?.code as string | undefined;
    found.push({ operation: operation.name, face: face.name, code, reads: commands > 0 });
  }
  return found;
}

function expectedOf(operation: Operation, isAllowed: boolean): object[] {
  // a scope to write alone tells nothing that is stored: a dry run would, and so would what GraphQL selects
  const tells = (face: Face): boolean =>
    argumentsOf(operation, IDS).dry_run === true || (operation.readScope !== undefined && face.name === 'GraphQL');
  return facesOf(operation).map((face) => {
    const isAnswered = isAllowed && !tells(face);
    const code = isAnswered ? undefined : 'insufficient_scope';
    return { operation: operation.name, face: face.name, code, reads: isAnswered && operation.name !== 'me' };
  });
}

test.each([...allScopes(), 'no scope'])(
  '%s alone allows what needs it, and no other operation reads data',
  async (name) => {
    const scope = allScopes().find((one) => one === name);
    const caller = await callerWith(scope ? [scope] : []);
    for (const operation of operations) {
      const isAllowed = operation.anyOf?.some((one) => one === scope) ?? [undefined, scope].includes(operation.scope);
      expect(await outcomes(caller, operation)).toEqual(expectedOf(operation, isAllowed));
    }
  },
);

/** Arguments that would get a different answer with the scope. */
const INVALID: readonly Record<string, unknown>[] = [
  { id: 'no-uuid' },
  { limit: 0 },
  { cursor: 'made-up' },
  { products: [] },
  { customers: [] },
  { invoices: [] },
  { text: '' },
  { group_by: Array.from({ length: 5 }, () => 'STATUS') },
];

test('without the scope, invalid arguments get the same answer as valid ones', async () => {
  const caller = await callerWith([]);
  for (const operation of operations.filter(({ scope }) => scope !== undefined)) {
    for (const face of facesOf(operation)) {
      const probes = INVALID.filter((probe) => documentOf(operation).includes(`$${Object.keys(probe)[0]!}:`));
      expect(probes.length).toBeGreaterThan(0);
      const answers = new Set<string>();
      for (const probe of [{}, ...probes]) answers.add(await refusalOf(face, caller, operation, probe));
      expect([operation.name, face.name, ...answers]).toHaveLength(3);
    }
  }
});

async function refusalOf(face: Face, caller: Client, operation: Operation, probe: object): Promise<string> {
  const answer = await face.call(caller, operation, argumentsOf(operation, IDS, { ...probe }), SAME_ID);
  expect(face.errorOf(answer)).toMatchObject({ code: 'insufficient_scope', status: 403 });
  return JSON.stringify(seen(answer));
}

test('a missing scope in GraphQL is an error in a 200, next to the data of the other fields', async () => {
  for (const operation of operations.filter(({ kind, scope }) => kind === 'Query' && scope !== undefined)) {
    const caller = await callerWithout(operation.scope!);
    const document = documentOf(operation)
      .replace('{', '{ before: me { key { id } }')
      .replace(/\}$/, 'after: me { key { id } } }');
    const { status, body } = await caller.graphql(document, argumentsOf(operation, IDS));
    expect(status).toBe(200);
    expect(body.errors).toMatchObject([
      {
        path: [operation.name],
        extensions: { code: 'insufficient_scope', status: 403, required_scope: operation.scope },
      },
    ]);
    expect(body.data[operation.name]).toBeNull();
    expect(body.data.before.key.id).toBe(body.data.after.key.id);
  }
});

test('a relation needs its scope and that of its parent, and without its own is null next to the parent, unread', async () => {
  expect(RELATIONS.length).toBeGreaterThan(5);
  for (const { operation, name, scope, document } of RELATIONS) {
    const read = await (await callerWith([operation.scope!, scope])).graphql(document, argumentsOf(operation, IDS));
    expect(read.body.errors).toBeUndefined();
    const value: Json = read.body.data[operation.name][name];
    expect(value.data ? value.data[0] : value).toMatchObject({ id: expect.any(String) });
    const caller = await callerWithout(scope);
    const { answer, commands } = await watched(() => caller.graphql(document, argumentsOf(operation, IDS)));
    expect(answer.body.errors).toMatchObject([
      { path: [operation.name, name], extensions: { code: 'insufficient_scope', required_scope: scope } },
    ]);
    expect(answer.body.data[operation.name]).toEqual({ id: expect.any(String), [name]: null });
    expect(commands).toBe(1);
  }
});
