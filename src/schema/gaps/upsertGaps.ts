import { type DocumentNode, Kind, print } from 'graphql';
import { shapeGaps } from './answerShapes';
import type { ResolverTable } from '../resolvers';
import { mergeGaps } from './mergeGaps';
import { directiveOf, inputFieldsOf, namedType, rootFieldNodes } from '../sdl';
import { sentences } from './sentences';
import { type BulkUpsert, OUTCOMES, RESULTS } from '../upserts';

/* Finds bulk upserts that would not do what the schema says. */

interface Tried extends BulkUpsert {
  /** Whether to try its merge. */
  readonly isTried: boolean;
}

/** One message per gap, with what to change where. */
export function upsertGaps(document: DocumentNode, upserts: readonly Tried[], resolvers: ResolverTable): string[] {
  const merges = Object.entries(resolvers.Mutation ?? {}).flatMap(([name, { merge }]) =>
    merge ? [{ name, merge }] : [],
  );
  return merges.flatMap(({ name, merge }) => {
    const upsert = upserts.find(({ operation }) => operation === name);
    if (!upsert) return unmatchedGaps(document, name);
    const found = [
      ...callGaps(document, upsert),
      ...keyGaps(document, upsert),
      ...reportGaps(document, upsert, resolvers),
    ];
    return found.length > 0 || !upsert.isTried ? found : mergeGaps(document, upsert, merge);
  });
}

/** Gaps of a field that is resolved as a bulk upsert, but is none; one that the schema does not have is reported elsewhere or unused. */
function unmatchedGaps(document: DocumentNode, name: string): string[] {
  return rootFieldNodes(document).some(({ kind, field }) => kind === 'Mutation' && field.name.value === name)
    ? [
        `Mutation.${name} upserts a list of elements, but has none: name an argument as the collection with @per_element, and the key as @stored(unique:)`,
      ]
    : [];
}

/** What a bulk call takes beside its list. */
const OPTIONS = ['atomic', 'dry_run'];

function callGaps(document: DocumentNode, { operation, list }: BulkUpsert): string[] {
  const field = rootFieldNodes(document).find((one) => one.kind === 'Mutation' && one.field.name.value === operation);
  return (field?.field.arguments ?? []).flatMap(({ name: { value: name }, type }) => {
    const place = `Mutation.${operation}(${name}:)`;
    const isList = type.kind === Kind.NON_NULL_TYPE && type.type.kind === Kind.LIST_TYPE;
    if (name === list)
      return sentences(!isList && `${place} is ${print(type)}: write [${namedType(type)}!]!, a list of elements`);
    if (!OPTIONS.includes(name)) return [`${place} has no effect: a bulk call takes ${[list, ...OPTIONS].join(', ')}`];
    return sentences(namedType(type) !== 'Boolean' && `${place} is ${print(type)}: write Boolean`);
  });
}

function keyGaps(document: DocumentNode, { element, key, list }: BulkUpsert): string[] {
  const member = inputFieldsOf(document, element).find(({ name }) => name.value === key);
  const isRequired = directiveOf(member, 'constraint')?.required === true || member?.type.kind === Kind.NON_NULL_TYPE;
  return sentences(
    !member && `${element} has no ${key}, by which ${list} are matched: add it with @constraint(required: true)`,
    member &&
      namedType(member.type) !== 'String' &&
      `${element}.${key} is ${print(member.type)}, but ${list} are matched by a String: write that, or name another in @stored(unique:)`,
    member && !isRequired && `${element}.${key} is what ${list} are matched by: add @constraint(required: true)`,
  );
}

function reportGaps(
  document: DocumentNode,
  { element, report, result, key }: BulkUpsert,
  resolvers: ResolverTable,
): string[] {
  const counts = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, 'Int!']));
  const shape = { ...counts, [RESULTS]: `[${result === '' ? `${element}Result` : result}!]!` };
  const ofOne = { index: 'Int!', [key]: 'String', id: 'ID', outcome: 'UpsertOutcome!', errors: '[ElementError!]!' };
  return [
    ...shapeGaps(document, report, shape, resolvers),
    ...(result === '' ? [] : shapeGaps(document, result, ofOne, resolvers)),
  ];
}
