import { existsSync, readFileSync } from 'node:fs';
import { getNamedType, type GraphQLArgument, type GraphQLObjectType, isObjectType } from 'graphql';
import { OPERATOR } from '../auth/roles';
import { represent } from '../schema/entityTags';
import { directiveOf } from '../schema/sdl';
import written from './examples.json';
import { exampleFile } from '../sdl/files';
import { answersPage } from '../rest/routes';
import type { Linked } from './links';

/*
 * Examples for the OpenAPI documents. Those of stored objects are in schema/examples; those of values that are computed or not stored are in
 * examples.json, which takes precedence.
 */

type Examples = Readonly<Record<string, unknown>>;
const parameters: Examples = written.parameters;
const requests: Examples = written.requests;
const responses: Examples = written.responses;

/** The example of a parameter: written for the operation or for the name, or else the sample's member with that name. */
export function parameterExample(one: Linked, { name, type }: GraphQLArgument): unknown {
  const example = parameters[`${one.operation.name}.${name}`] ?? parameters[name];
  if (example !== undefined || !['ID', 'String'].includes(getNamedType(type).name)) return example;
  return sampleOf(one)?.[name] ?? undefined;
}

/** The example of a body: written for the operation, or else the members of the sample that it sets. */
export function requestExample(one: Linked, args: readonly GraphQLArgument[]): unknown {
  if (args.length === 0) return {};
  const example = requests[one.operation.name];
  const sample = sampleOf(one);
  if (example !== undefined || !sample || !args.every(({ name }) => name in sample)) return example;
  return Object.fromEntries(args.map(({ name }) => [name, sample[name]]));
}

/** The name of an operation; those of operators that have the name of another in the API of keys have a prefix. */
function keyOf({ operation: { name, role } }: Linked): string {
  const own = `operator.${name}`;
  return role === OPERATOR && own in responses ? own : name;
}

/** The example of a response: an object, or a page that is followed by another. */
export function responseExample(one: Linked): unknown {
  const sample = sampleOf(one);
  const page = sample && { data: [sample], has_more: true, next_cursor: 'WyJ4IiwiMjAyNiIsIjY4OWRlZmJmIl0' };
  return responses[keyOf(one)] ?? (answersPage(one.field) ? page : sample);
}

/** @throws Error naming the operations on stored objects that have no example */
export function refuseMissingExamples(all: readonly Linked[]): void {
  const missing = all.filter((one) => storedRow(one) && responseExample(one) === undefined);
  if (missing.length === 0) return;
  const gaps = missing.map(({ operation, field }) => {
    const file = `schema/examples/${storedRow({ field })?.collection ?? ''}.json`;
    return `${operation.kind}.${operation.name} has no example: write an object, as \`export\` does, to ${file}`;
  });
  throw new Error(`invalid schema: ${gaps.join('; ')}`);
}

/** A sample of the stored object that an operation returns, the way REST returns it. */
function sampleOf({ field }: Pick<Linked, 'field'>): Examples | undefined {
  const stored = storedRow({ field });
  const row = stored && sampleRow(stored.collection);
  return row ? (represent(stored.type, row) as Examples) : undefined;
}

/** The stored type that an operation returns, or a page of, with its collection. */
function storedRow({ field }: Pick<Linked, 'field'>): { type: GraphQLObjectType; collection: string } | undefined {
  const named = getNamedType(field.type);
  const type = answersPage(field) && isObjectType(named) ? getNamedType(named.getFields().data?.type) : named;
  if (!isObjectType(type)) return undefined;
  const stored = directiveOf(type.astNode, 'stored');
  return stored && { type, collection: stored.collection };
}

const rows = new Map<string, object>();

function sampleRow(collection: string): object | undefined {
  const file = exampleFile(collection);
  if (!rows.has(collection) && existsSync(file)) rows.set(collection, JSON.parse(readFileSync(file, 'utf8')) as object);
  return rows.get(collection);
}
