import { randomUUID } from 'node:crypto';
import type { Scope } from '../../../src/auth/scopes';
import type { Operation } from '../../../src/schema/declaredOperations';
import { COMPUTED_FIELDS } from '../../../src/schema/storedTypes';
import { published } from '../../../src/schema/model';
import { namedType } from '../../../src/sdl/nodes';
import { IDS, makeStocked } from '../../support/fixtures/contract';
import type { Client, Json } from '../../support/client';
import { dumpOf } from '../../support/attacks/scene';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { ALL_FACES, argumentsOf, type Face, GRAPHQL, MCP, operations, REST } from '../../support/operations';

/*
 * A key that may write, but not read: what it writes tells it nothing that it did not send, however little it changes. Each change of
 * a stored object, in each API, by keys with and without the scope to read it.
 */

const gateway = served();
const organisation = late(() => makeStocked(gateway));

const CHANGES = operations.filter(({ readScope }) => readScope !== undefined);
const BULK = published.upserts;
const callers = new Map<string, Promise<Client>>();
const callerWith = (...scopes: (Scope | undefined)[]): Promise<Client> => {
  const name = scopes.join();
  const known =
    callers.get(name) ?? callerOf(gateway, organisation, { scopes: scopes.filter((scope) => scope !== undefined) });
  callers.set(name, known);
  return known;
};

/** Members to send, with their values, and what the object is afterwards. */
const SENT: Readonly<Record<string, readonly Json[]>> = {
  update_product: [{ description: null, active: true }, { name: 'Lamp' }],
  update_customer: [
    { phone: '+44 20 7946 0958', email: null },
    { contacts: [{ name: 'Ann' }], delivery_address: { line1: '1 Way', city: 'York', country: 'UK' } },
  ],
  update_request: [{ status: 'closed' }, { subject: 'Hinges', customer_id: null }],
};

/** Changes an object; over GraphQL with a selection. */
async function change(
  face: Face,
  caller: Client,
  operation: Operation,
  sent: Json,
  select: readonly string[],
  headers?: Record<string, string>,
) {
  const args = { id: argumentsOf(operation, IDS).id, ...sent };
  if (face !== GRAPHQL) return face.call(caller, operation, args, headers);
  const fields = published.rootField(operation.name)!.arguments!;
  const given = fields.filter(({ name }) => name.value in args);
  const declared = given.map(({ name, type }) => `$${name.value}: ${typeText(type)}`).join(', ');
  const passed = given.map(({ name }) => `${name.value}: $${name.value}`).join(', ');
  return caller.graphql(
    `mutation(${declared}) { ${operation.name}(${passed}) { ${select.join(' ')} } }`,
    args,
    headers,
  );
}
const typeText = (type: Json): string =>
  type.kind === 'NamedType'
    ? type.name.value
    : type.kind === 'ListType'
      ? `[${typeText(type.type)}]`
      : `${typeText(type.type)}!`;
/** The members that an answer tells. */
const toldBy = (sent: Json): string[] => ['id', ...Object.keys(sent)];
const selectable: Readonly<Record<string, string>> = {
  contacts: 'contacts { name role }',
  delivery_address: 'delivery_address { line1 line2 city }',
};

test('every change of a stored object has a scope without which its answer is cut, and everything that it can set is tested', () => {
  const stored = [...published.stored.keys()];
  const writes = published.roots.filter(
    ({ kind, field }) => kind === 'Mutation' && stored.includes(namedType(field.type)),
  );
  const created = operations.filter(({ rest }) => rest?.status === 201).map(({ name }) => name);
  expect(
    writes
      .map(({ field }) => field.name.value)
      .filter((name) => !created.includes(name))
      .sort(),
  ).toEqual(CHANGES.map(({ name }) => name).sort());
  expect(Object.keys(SENT).sort()).toEqual(CHANGES.map(({ name }) => name).sort());
});

describe.each(CHANGES)('$name', (operation) => {
  const { scope, readScope } = operation;

  test.each(ALL_FACES)('$name answers a key that may not read with the id and what it sent', async (face) => {
    const [writer, reader] = [await callerWith(scope), await callerWith(scope, readScope)];
    for (const sent of [{}, ...SENT[operation.name]!, ...SENT[operation.name]!]) {
      const names = toldBy(sent);
      const select = names.map((name) => selectable[name] ?? name);
      const answer = await change(face, writer, operation, sent, select);
      expect([answer.status, answer.headers.get('etag')]).toEqual([200, null]);
      const value = face.valueOf(answer, operation);
      expect(Object.keys(value).sort()).toEqual(names.sort());
      // what it is told is what is stored
      const whole = await change(face, reader, operation, sent, select);
      expect(face.valueOf(whole, operation)).toMatchObject(value);
      if (face === REST) expect(Object.keys(whole.body).length).toBeGreaterThan(names.length);
    }
  });

  test.each(ALL_FACES)('$name replays no more of it', async (face) => {
    const writer = await callerWith(scope);
    const key = randomUUID();
    const headers: Record<string, string> = face === MCP ? {} : { 'idempotency-key': key };
    const sent = { ...SENT[operation.name]![0], ...(face === MCP && { idempotency_key: key }) };
    const names = toldBy(SENT[operation.name]![0]);
    const [first, again] = [
      await change(face, writer, operation, sent, names, headers),
      await change(face, writer, operation, sent, names, headers),
    ];
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(face.valueOf(again, operation)).toEqual(face.valueOf(first, operation));
    expect(Object.keys(face.valueOf(again, operation)).sort()).toEqual(names.sort());
  });

  test('GraphQL refuses to select another member, wherever it stands, before anything is stored', async () => {
    const writer = await callerWith(scope);
    const type = namedType(published.rootField(operation.name)!.type);
    const members = published.fieldsOf(type).map(({ name }) => name.value);
    const before = await dumpOf(gateway, organisation);
    const [sent] = SENT[operation.name]! as [Json];
    for (const member of members.filter((name) => name !== 'id' && !(name in sent))) {
      const named = published.fieldsOf(type).find(({ name }) => name.value === member)!;
      const called = COMPUTED_FIELDS.has(member) && named.arguments?.length ? `${member}(key: "a")` : member;
      const text = published.fieldsOf(namedType(named.type)).length > 0 ? `${called} { __typename }` : called;
      for (const select of [
        text,
        `name: ${text}`,
        `... on ${type} { ${text} }`,
        `... { ... @include(if: true) { ${text} } }`,
      ]) {
        const { status, body } = await change(GRAPHQL, writer, operation, sent, ['id', select]);
        expect([select, status, body.data?.[operation.name] ?? null]).toEqual([select, 200, null]);
        expect(body.errors).toMatchObject([{ extensions: { code: 'insufficient_scope', required_scope: readScope } }]);
        expect(body.errors[0].message).toContain(member);
      }
    }
    expect(await dumpOf(gateway, organisation)).toBe(before);
    const skipped = await change(GRAPHQL, writer, operation, sent, [
      'id',
      '__typename',
      `${members[1]!} @skip(if: true)`,
    ]);
    expect(skipped.body.data[operation.name]).toEqual({ id: expect.any(String), __typename: type });
  });
});

describe.each(BULK)('$operation', ({ operation: name, list, key, readScope, stored }) => {
  const operation = operations.find((operation) => operation.name === name)!;

  test.each(ALL_FACES)('$name: a dry run needs the scope to read, and a bulk call does not', async (face) => {
    const [writer, reader] = [await callerWith(operation.scope), await callerWith(operation.scope, readScope)];
    const [known] = (await reader.get(`/${list}`, { limit: 1 })).body.data;
    const args = { [list]: [{ [key]: known[key] }], dry_run: true };
    const refused = await face.call(writer, operation, args);
    expect(face.errorOf(refused)).toMatchObject({ code: 'insufficient_scope', required_scope: readScope });
    expect(refused.text).not.toContain(known.id);
    const allowed = await face.call(reader, operation, args);
    expect(face.valueOf(allowed, operation).results).toMatchObject([{ id: known.id, outcome: 'unchanged' }]);
    const written = await face.call(writer, operation, { [list]: [{ [key]: known[key] }] });
    expect(face.valueOf(written, operation).results).toMatchObject([{ id: known.id, outcome: 'unchanged' }]);
    expect(stored.type).toBeDefined();
  });
});

test.each(ALL_FACES)(
  "$name: a key without requests:read is not told a thread's people by writing into it",
  async (face) => {
    const [writer, reader] = [await callerWith('requests:write'), await callerWith('requests:write', 'requests:read')];
    const open = operations.find(({ name }) => name === 'open_request')!;
    const add = operations.find(({ name }) => name === 'add_request_message')!;
    const opened = face.valueOf(
      await face.call(writer, open, { text: 'Do you deliver?', customer_id: IDS.customer }),
      open,
    );
    expect(opened).toMatchObject({ customer_id: IDS.customer, contact: null });
    const nameOf = async (caller: Client, more: object = {}) =>
      face.valueOf(await face.call(caller, add, { id: opened.id, text: 'Hello?', ...more }), add).author_name;
    expect(await nameOf(writer)).toBeNull();
    expect(await nameOf(writer, { author_name: 'Bo' })).toBe('Bo');
    const told = await nameOf(reader);
    expect(told).toEqual(expect.any(String));
    // the name is stored all the same
    const messages = (await reader.get(`/requests/${String(opened.id)}/messages`)).body.data;
    expect(messages.map(({ author_name }: Json) => author_name)).toEqual([told, told, 'Bo', told]);
  },
);
