import { type DocumentNode, type FieldDefinitionNode, Kind, print } from 'graphql';
import { shapeGaps } from './answerShapes';
import type { ResolverTable } from '../resolvers';
import { directiveOf, fieldsOf, namedType, rootFieldNodes } from '../sdl';
import { type CheckedResource, sentences } from './sentences';
import { rowFieldsOf, type StoredType, totalledAmounts, typeOf, type Types } from '../storedTypes';

/* Finds totals that would not do what the schema says. */

/** The values of TotalsGroup. */
export const TOTALS_GROUPS = ['STATUS', 'MONTH', 'CUSTOMER', 'CURRENCY'] as const;
/** Members that totals are grouped by. */
const GROUPS = ['currency', 'status', 'customer_id'];
/** Members of a row that are null unless totals are grouped by them. */
const GROUPED = ['status', 'month', 'customer_id'];
/** What totals take, with its type. */
const TAKEN: Readonly<Record<string, string>> = { group_by: '[TotalsGroup!]', from: 'DateTime', to: 'DateTime' };
/** Members of a row beside its amounts. */
const FILLED = [...GROUPS, 'month', 'count'];

/** One message per gap, with what to change where. */
export function totalsGaps(
  document: DocumentNode,
  types: Types,
  resources: ReadonlyMap<string, CheckedResource>,
  resolvers: ResolverTable,
): string[] {
  return rootFieldNodes(document).flatMap(({ kind, field }) => {
    const totals = directiveOf(field, 'totals');
    if (!totals) return [];
    const place = `${kind}.${field.name.value}`;
    const stored = types.get(totals.of);
    if (!stored) return [`${place} has @totals(of: "${totals.of}"), but no type ${totals.of} is @stored`];
    const amounts = totalledAmounts(document, field, stored);
    const found = [
      ...argumentGaps(field),
      ...sourceGaps(stored, totals.at, amounts, resources.get(stored.collection)),
      ...rowGaps(document, field, stored, amounts),
    ];
    return [...found.map((gap) => `${place}${gap}`), ...answerGaps(document, field, stored, resolvers)];
  });
}

/** Gaps of the answer and of its rows. */
function answerGaps(
  document: DocumentNode,
  field: FieldDefinitionNode,
  stored: StoredType,
  resolvers: ResolverTable,
): string[] {
  const answer = namedType(field.type);
  const data = fieldsOf(document, answer).find(({ name }) => name.value === 'data');
  const row = data && namedType(data.type);
  const types = new Map([
    ...GROUPS.map((name) => [name, typeOf(stored, name)] as const),
    ...([
      ['month', 'String'],
      ['count', 'Int'],
    ] as const),
  ]);
  const ofRows = fieldsOf(document, row).flatMap(({ name: { value: name }, type }) => {
    const [given, wanted] = [print(type), types.get(name)];
    return sentences(
      wanted !== undefined && namedType(type) !== wanted && `${String(row)}.${name} is ${given}: write ${wanted}`,
      GROUPED.includes(name) &&
        type.kind === Kind.NON_NULL_TYPE &&
        `${String(row)}.${name} is ${given}, but null unless totals are grouped by it: remove !`,
    );
  });
  const shape = { data: `[${row ?? `${stored.type}Total`}!]!`, has_more: 'Boolean!' };
  return [...shapeGaps(document, answer, shape, resolvers), ...ofRows];
}

function argumentGaps({ arguments: args = [] }: FieldDefinitionNode): string[] {
  return args.flatMap(({ name: { value: name }, type }) => {
    const wanted = TAKEN[name];
    return sentences(
      wanted === undefined && `(${name}:) has no effect: totals take only group_by, from and to`,
      wanted !== undefined && print(type) !== wanted && `(${name}:) is ${print(type)}: totals take it as ${wanted}`,
    );
  });
}

/** Gaps of what is read. */
function sourceGaps(
  stored: StoredType,
  at: string,
  amounts: readonly string[],
  resource: CheckedResource | undefined,
): string[] {
  const { type, collection } = stored;
  const read = [...GROUPS, ...amounts];
  const missing = read.filter((member) => typeOf(stored, member) === undefined);
  const isIndexed = resource?.indexes.some(({ on }) => {
    const [first, ...others] = Object.keys(on);
    return first === at && read.every((member) => others.includes(member));
  });
  return sentences(
    ...missing.map((member) => ` groups by ${member}, but ${type} has no such member`),
    typeOf(stored, at) !== 'DateTime' && ` has @totals(at: "${at}"), but ${type} has no such DateTime`,
    amounts.length === 0 && ` sums nothing: its rows need Minor members that ${type} has`,
    isIndexed === false && ` needs an index of ${collection} that begins with ${at} and covers ${read.join(', ')}`,
  );
}

/** Gaps of the rows of the answer, which have the groups, a count and the amounts. */
function rowGaps(
  document: DocumentNode,
  field: FieldDefinitionNode,
  { type }: StoredType,
  amounts: readonly string[],
): string[] {
  const rows = rowFieldsOf(document, namedType(field.type)) ?? [];
  return rows
    .map(({ name }) => name.value)
    .filter((name) => !FILLED.includes(name) && !amounts.includes(name))
    .map((name) => ` has rows with ${name}, but ${type} has no such Minor member to sum: remove it`);
}
