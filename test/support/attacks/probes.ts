import { randomUUID } from 'node:crypto';
import { type GraphQLArgument, type GraphQLObjectType, isListType, isNonNullType } from 'graphql';
import type { Operation } from '../../../src/schema/declaredOperations';
import { constraintOf } from '../../../src/schema/jsonSchema';
import { published } from '../../../src/schema/model';
import { directiveOf } from '../../../src/schema/sdl';
import { type Called, OVER_GRAPHQL, OVER_MCP, OVER_REST, type Way } from './calls';
import type { Kind } from './rule';
import { IDENTITIES, type Holding, type Identity, idsOf, type Scene } from './scene';
import type { Client, Json } from '../client';
import { argumentsOf, type Face, graphqlSchema, operations } from '../operations';
import { type ListName, RESOURCES } from '../resources';

/** A position where a caller can refer to an object, and a way to pass the value. */
export interface Probe {
  /** How the value is passed. */
  readonly way: string;
  /** The operation and what is attacked. */
  readonly title: string;
  readonly kind: Kind;
  readonly face: Face;
  readonly operation: Operation;
  /** The required scope; undefined if none. */
  readonly scope: Operation['scope'];
  readonly identities: readonly Identity[];
  send(caller: Client, home: Holding, identity: Identity): Promise<Sent>;
}

export interface Sent extends Called {
  /** Everything the caller sent. */
  readonly said: unknown;
}

/** Probes for every argument of every operation that can refer to an organisation's data, in every way to pass it. */
export async function argumentProbes(scene: Scene): Promise<Probe[]> {
  const probes: Probe[] = [];
  for (const operation of operations) {
    for (const argument of argumentsOfField(operation)) {
      const target = await targetOf(scene, operation, argument);
      if (!target) continue;
      const where = operation.rest?.path.includes(`:${argument.name}`)
        ? 'path'
        : operation.kind === 'Query'
          ? 'query'
          : 'body';
      const others = [...OVER_GRAPHQL, OVER_MCP];
      const ways = operation.rest ? [{ ...OVER_REST, name: `REST ${where}` }, ...others] : others;
      ways.forEach((way, turn) => probes.push(argumentProbe(operation, argument.name, target, way, turn)));
    }
  }
  return probes;
}

interface Target {
  readonly kind: Kind;
  /** The argument's value; `turn` numbers the ways, so that each writes a different object, and none the first, which filters find. */
  readonly value: (identity: Identity, turn: number) => unknown;
}

function argumentProbe(operation: Operation, argument: string, target: Target, way: Way, turn: number): Probe {
  return {
    way: way.name,
    title: `${operation.name}(${argument})`,
    kind: target.kind,
    face: way.face,
    operation,
    scope: operation.scope,
    identities: IDENTITIES,
    send: async (caller, home, identity) => {
      const usual = argumentsOf(operation, home.ids);
      const { dry_run: _dryRun, ...others } = usual;
      const args = { ...others, [argument]: target.value(identity, turn) };
      return { ...(await way.call(caller, operation, args, usual)), said: args };
    },
  };
}

async function targetOf(scene: Scene, operation: Operation, argument: GraphQLArgument): Promise<Target | undefined> {
  const { name } = argument;
  const isWrite = operation.kind === 'Mutation';
  const type = isNonNullType(argument.type) ? argument.type.ofType : argument.type;
  if (name === 'id' && isListType(type)) {
    const { one } = RESOURCES.find(({ list }) => list === operation.name)!;
    const ids = idsOf(scene, (holding) => holding.ids[one as keyof Holding['ids']]);
    return { kind: 'filter', value: (identity) => [ids[identity]] };
  }
  if (name === 'id' || name.endsWith('_id')) {
    // the objects of the events are products
    const ofOther = (name === 'object_id' ? 'product' : name.replace(/_id$/, '')) as keyof Holding['ids'];
    const ids = idsOf(scene, (holding) =>
      name === 'id' ? String(argumentsOf(operation, holding.ids).id) : holding.ids[ofOther],
    );
    return { kind: name === 'id' ? 'object' : isWrite ? 'reference' : 'filter', value: (identity) => ids[identity] };
  }
  if (name === 'cursor' || name === 'after')
    return cursorTarget(await cursorsOf(scene, operation, { ofCustomer: false }));
  if (isWrite) return directiveOf(argument.astNode, 'per_element') ? elementTarget(scene, name as ListName) : undefined;
  const takesSeveral = String(type) === '[String!]';
  const { one_of: oneOf, format } = constraintOf(argument);
  // a currency belongs to no organisation
  if ((String(type) !== 'String' && !takesSeveral) || oneOf || format === 'known-currency') return undefined;
  const text = (identity: Identity): string => textOf(scene, operation.name as ListName, name, identity);
  return { kind: 'filter', value: (identity) => (takesSeveral ? [text(identity)] : text(identity)) };
}

/** A text of a row of the organisation: its member of that name, or its number, name or subject. */
function textOf({ own, victim }: Scene, list: ListName, member: string, identity: Identity): string {
  const nobody = `nobody${randomUUID().slice(0, 8)}`;
  if (identity === 'random') return member === 'metadata' ? `${nobody}:x` : nobody;
  if (identity === 'malformed') return 'x'.repeat(300);
  const row = (identity === 'own' ? own : victim).records[list][0] as Json;
  if (member === 'metadata') return Object.entries(row.metadata as object)[0]!.join(':');
  return row[member] ?? row.number ?? row.name ?? row.subject;
}

function elementTarget({ own, victim }: Scene, list: ListName): Target {
  const { key } = published.upserts.find((upsert) => upsert.list === list)!;
  const needed = key === 'number' ? { total_minor: 1 } : { name: 'Attack' };
  return {
    kind: 'element',
    value: (identity, turn) => {
      const rows = (identity === 'own' ? own : victim).records[list] as Json[];
      const values = { own: rows[turn + 1]![key], foreign: rows[turn + 1]![key], random: randomUUID(), malformed: '' };
      return [{ [key]: values[identity], ...needed }];
    },
  };
}

function cursorTarget(cursors: Readonly<Record<Identity, string>>): Target {
  return { kind: 'cursor', value: (identity) => cursors[identity] };
}

/** Cursors of the same list in two organisations (optionally of one customer), a forged one and a malformed one. */
export async function cursorsOf(
  scene: Scene,
  operation: Operation,
  { ofCustomer }: { ofCustomer: boolean },
): Promise<Record<Identity, string>> {
  const cursorIn = async ({ caller, ids }: Holding): Promise<string> => {
    const args = { ...argumentsOf(operation, ids), limit: 1, ...(ofCustomer && { customer_id: ids.customer }) };
    const { value, error } = await OVER_REST.call(caller, operation, args, {});
    if (typeof value?.next_cursor !== 'string')
      throw new Error(`${operation.name} has no cursor: ${JSON.stringify(error)}`);
    return value.next_cursor;
  };
  const made = ['AAAAAAAAAAAAAAAA', '1999-01-01T00:00:00.000Z', randomUUID()];
  return {
    own: await cursorIn(scene.own),
    foreign: await cursorIn(scene.victim),
    random: Buffer.from(JSON.stringify(made)).toString('base64url'),
    malformed: 'no-cursor',
  };
}

function argumentsOfField({ kind, name }: Operation): readonly GraphQLArgument[] {
  return (graphqlSchema.getType(kind) as GraphQLObjectType).getFields()[name]!.args;
}
