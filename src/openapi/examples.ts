import { existsSync, readFileSync } from 'node:fs';
import {
  coerceInputValue,
  getNamedType,
  getNullableType,
  type GraphQLArgument,
  GraphQLBoolean,
  type GraphQLInputType,
  type GraphQLObjectType,
  isEnumType,
  isInputObjectType,
  isListType,
  isObjectType,
} from 'graphql';
import { OPERATOR } from '../auth/roles';
import { represent } from '../schema/entityTags';
import { isSpan } from '../schema/filters';
import { directiveOf } from '../schema/sdl';
import { OUTCOMES, RESULTS } from '../schema/upserts';
import examples from './examples.json';
import { exampleFile } from '../sdl/files';
import { answersPage } from '../rest/routes';
import type { Endpoint } from './links';

/*
 * Examples for the OpenAPI documents. Those of stored objects are in schema/examples; those of values that are computed or not stored are in
 * examples.json, which takes precedence, but for parameters that it names without their operation: any operation may have one of that name.
 */

type Examples = Readonly<Record<string, unknown>>;
const parameters: Examples = examples.parameters;
const requests: Examples = examples.requests;
const responses: Examples = examples.responses;

/**
 * The example of a parameter: that of examples.json for `operation.name`, or else what the sample has in the member that it filters by, or else that
 * of examples.json for `name`; or undefined. For what is no filter, or one end of a range, the latter goes before the sample.
 */
export function parameterExample(endpoint: Endpoint, { name, type, astNode }: GraphQLArgument): unknown {
  const example = parameters[`${endpoint.operation.name}.${name}`];
  const named = getNamedType(type);
  if (example !== undefined || isEnumType(named) || named === GraphQLBoolean) return example;
  const filter = directiveOf(astNode, 'filter');
  const member = filter?.by === 'WORDS' ? searchedMember(endpoint) : (filter?.member ?? name);
  const [value] = [sampleOf(endpoint)?.[member]].flat();
  const ofSample = value != null && isListType(getNullableType(type)) ? [value] : value;
  const all = [ofSample, parameters[name]];
  return (filter && !isSpan(filter.by) ? all : all.toReversed()).find((one) => isOfType(one, type));
}

/** Whether a value is of a type; a list only if the type is one. */
function isOfType(value: unknown, type: GraphQLInputType): boolean {
  if (value == null || Array.isArray(value) !== isListType(getNullableType(type))) return false;
  const faults: unknown[] = [];
  coerceInputValue(value, type, (...fault) => faults.push(fault));
  return faults.length === 0;
}

/** The first member that a full-text search looks into; empty if there is none. */
function searchedMember({ field }: Endpoint): string {
  const members = Object.values(storedRow({ field })?.type.getFields() ?? {});
  return members.find(({ astNode }) => directiveOf(astNode, 'searchable'))?.name ?? '';
}

/** The example of a body: that of examples.json, or else the members of the sample that it sets; undefined if the sample lacks one. */
export function requestExample(endpoint: Endpoint, args: readonly GraphQLArgument[]): unknown {
  if (args.length === 0) return {};
  const example = requests[endpoint.operation.name];
  if (example !== undefined) return example;
  const element = elementOf(endpoint);
  if (element) return { [element.list]: [element.example] };
  const sample = sampleOf(endpoint);
  if (!sample || !args.every(({ name }) => name in sample)) return undefined;
  return Object.fromEntries(args.map(({ name }) => [name, sample[name]]));
}

/** An element of a bulk call: the members of the sample that it sets. */
function elementOf({ field }: Endpoint): { list: string; id: unknown; example: Examples } | undefined {
  const argument = field.args.find(({ astNode }) => directiveOf(astNode, 'per_element'));
  const row = argument && sampleRow(argument.name);
  const input = getNamedType(argument?.type);
  if (!row || !isInputObjectType(input)) return undefined;
  const set = Object.values(input.getFields()).filter(
    ({ name, astNode }) => name in row && !directiveOf(astNode, 'ignored'),
  );
  return { list: argument.name, id: row.id, example: Object.fromEntries(set.map(({ name }) => [name, row[name]])) };
}

/** The report of a bulk call that created its only element. */
function reportExample(endpoint: Endpoint): unknown {
  const element = elementOf(endpoint);
  const report = getNamedType(endpoint.field.type);
  if (!element || !isObjectType(report)) return undefined;
  const result = getNamedType(report.getFields()[RESULTS]?.type);
  const values: Examples = { ...element.example, index: 0, id: element.id, outcome: 'created', errors: [] };
  const members = isObjectType(result) ? Object.keys(result.getFields()) : [];
  const created = Object.fromEntries(members.map((name) => [name, values[name] ?? null]));
  return {
    ...Object.fromEntries(OUTCOMES.map((outcome) => [outcome, outcome === 'created' ? 1 : 0])),
    [RESULTS]: [created],
  };
}

/** The name of the example of an operation's answer; that of an operator with the name of one of keys has a prefix if it answers otherwise. */
function exampleName({ operation: { name, role } }: Endpoint): string {
  const operatorName = `operator.${name}`;
  return role === OPERATOR && operatorName in responses ? operatorName : name;
}

/** The example of a response: an object, or a page that is followed by another. */
export function responseExample(endpoint: Endpoint): unknown {
  const sample = sampleOf(endpoint);
  const page = sample && { data: [sample], has_more: true, next_cursor: parameters.cursor };
  return responses[exampleName(endpoint)] ?? reportExample(endpoint) ?? (answersPage(endpoint.field) ? page : sample);
}

/** @throws Error naming the operations on stored objects that have no example */
export function refuseMissingExamples(all: readonly Endpoint[]): void {
  const missing = all.filter((endpoint) => storedRow(endpoint) && responseExample(endpoint) === undefined);
  if (missing.length === 0) return;
  const gaps = missing.map(({ operation, field }) => {
    const file = `schema/examples/${storedRow({ field })?.collection ?? ''}.json`;
    return `${operation.kind}.${operation.name} has no example: write an object, as \`export\` does, to ${file}`;
  });
  throw new Error(`invalid schema: ${gaps.join('; ')}`);
}

/** A sample of the stored object that an operation returns, the way REST returns it. */
function sampleOf({ field }: Pick<Endpoint, 'field'>): Examples | undefined {
  const stored = storedRow({ field });
  const row = stored && sampleRow(stored.collection);
  return row ? (represent(stored.type, row) as Examples) : undefined;
}

/** The stored type that an operation returns, or a page of, with its collection. */
function storedRow({ field }: Pick<Endpoint, 'field'>): { type: GraphQLObjectType; collection: string } | undefined {
  const named = getNamedType(field.type);
  const type = answersPage(field) && isObjectType(named) ? getNamedType(named.getFields().data?.type) : named;
  if (!isObjectType(type)) return undefined;
  const stored = directiveOf(type.astNode, 'stored');
  return stored && { type, collection: stored.collection };
}

/** By collection, once read: the files do not change while the process runs. */
const rows = new Map<string, Examples>();

/** The example of the objects of a collection, from its file; undefined if there is none. */
export function sampleRow(collection: string): Examples | undefined {
  const file = exampleFile(collection);
  if (!rows.has(collection) && existsSync(file))
    rows.set(collection, JSON.parse(readFileSync(file, 'utf8')) as Examples);
  return rows.get(collection);
}
