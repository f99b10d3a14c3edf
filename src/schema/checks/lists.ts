import type { FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import { type Filter, filterOf, ID, SEARCH_MEMBER, SPANS } from '../filters';
import { directiveOf, isListType, namedType, pageOf, rowName } from '../sdl';
import { totalledAmounts } from '../storedTypes';
import { type Checked, type CheckedResource, errorsAt, type SchemaError } from './errors';

/* Finds list arguments that have no effect, and reads without an index, which would scan the collection. */

/** List arguments for paging and sorting, which are not filters. */
const OF_PAGES: readonly string[] = ['sort', 'limit', 'cursor'];
/** Members that totals are grouped by. */
export const GROUPS = ['currency', 'status', 'customer_id'];

type Index = CheckedResource['indexes'][number];

export function listErrors(checked: Checked): SchemaError[] {
  return [
    ...checked.sdl.fields.flatMap(({ type, field }) => limitErrors(type, field)),
    ...checked.sdl.roots.flatMap(({ kind, field }) => [
      ...(kind === 'Query' ? argumentErrors(checked, field) : []),
      ...totalsErrors(checked, `${kind}.${field.name.value}`, field),
    ]),
    ...parentErrors(checked),
  ];
}

/** Finds limits that would let one request read everything. */
function limitErrors(type: string, { name, arguments: args = [] }: FieldDefinitionNode): SchemaError[] {
  const limit = args.find((one) => one.name.value === 'limit');
  const { min, max, default: otherwise } = directiveOf(limit, 'constraint') ?? {};
  const isBounded = min !== undefined && max !== undefined && otherwise !== undefined;
  return errorsAt(
    limit,
    limit &&
      !isBounded &&
      `${type}.${name.value} has a limit without min, max and default: add @constraint(min: 1, max: 100, default: 20) to it`,
  );
}

function argumentErrors({ sdl, resources }: Checked, field: FieldDefinitionNode): SchemaError[] {
  // lists for users are read from the control database, with their own code
  if (pageOf(field) === undefined || directiveOf(field, 'access')?.role !== undefined) return [];
  const list = resources.get(field.name.value);
  // a missing resource is reported by other checks
  const isStored = sdl.stored.get(rowName(field) ?? '')?.collection === field.name.value;
  if (!list && isStored) return [];
  const members = new Map(
    sdl.rowFieldsOf(pageOf(field))?.map(({ name, type }) => [name.value, namedType(type)] as const),
  );
  const inPath = directiveOf(field, 'rest')?.path.split('/') ?? [];
  return (field.arguments ?? []).flatMap((argument) => {
    const { value: name } = argument.name;
    const filter = filterOf(argument);
    const found =
      filter && list
        ? filterErrors(filter, argument, members.get(filter.member), list.indexes)
        : name === 'sort' && list
          ? sortErrors(argument, list.indexes)
          : [
              filter && 'has a @filter, but no resource has that list (src/resources/index.ts)',
              !filter &&
                !OF_PAGES.includes(name) &&
                !inPath.includes(`:${name}`) &&
                'has no @filter: say which member of the rows it compares, or remove it',
            ];
    return errorsAt(argument, ...found).map(({ node, text }) => ({
      node,
      text: `Query.${field.name.value}(${name}:) ${text}`,
    }));
  });
}

const first = ({ on }: Index): string => Object.keys(on)[0] ?? '';

/** `type` is the type of the member; undefined if the rows lack it. */
function filterErrors(
  { member, by }: Filter,
  argument: InputValueDefinitionNode,
  type: string | undefined,
  indexes: readonly Index[],
): unknown[] {
  if (by !== 'WORDS' && type === undefined) return [`filters by ${member}, which its rows do not have`];
  const [given, wanted] = [namedType(argument.type), by === 'WORDS' ? 'String' : String(type)];
  const ordered: readonly string[] | undefined = by === 'SINCE' || by === 'BEFORE' ? SPANS[by].of : undefined;
  const read = by === 'EMAIL' ? SEARCH_MEMBER : member;
  const isUnordered = ordered?.includes(wanted) === false;
  return [
    isUnordered && `is @filter(by: ${by}), but ${member} is not a ${ordered.join(' or ')}`,
    !isUnordered && given !== wanted && `takes ${given}, but ${member} is ${wanted}`,
    ordered && isListType(argument.type) && `is @filter(by: ${by}) but takes a list: use a single ${wanted}`,
    read !== ID &&
      !indexes.some((index) => first(index) === read) &&
      `filters by ${read}, but no index of its collection begins with it: add one in the definition of the collection`,
  ];
}

/** Whether an index has the order of a list sorted by its first member: then by id, unless no two rows have the same value. */
function givesOrder({ on, options }: Index): boolean {
  const [, second] = Object.keys(on);
  return second === '_id' || (options?.unique === true && second === undefined);
}

function sortErrors(argument: InputValueDefinitionNode, indexes: readonly Index[]): string[] {
  const sorts = directiveOf(argument, 'constraint')?.one_of ?? [];
  const members = new Set(sorts.map((sort) => sort.replace(/^-/, '')));
  const unsorted = [...members].filter((member) => !indexes.some((one) => givesOrder(one) && first(one) === member));
  return unsorted.map(
    (member) =>
      `sorts by ${member}, but no index of its collection has that order: add one of the member and _id in the definition of the collection`,
  );
}

function totalsErrors({ sdl, resources }: Checked, place: string, field: FieldDefinitionNode): SchemaError[] {
  const { of, at = '' } = directiveOf(field, 'totals') ?? {};
  const stored = sdl.stored.get(of ?? '');
  const resource = resources.get(stored?.collection ?? '');
  if (!stored || !resource) return [];
  const read = [...GROUPS, ...totalledAmounts(sdl, field, stored)];
  const isIndexed = resource.indexes.some(
    (index) => first(index) === at && read.every((member) => Object.keys(index.on).includes(member)),
  );
  return errorsAt(
    field,
    !isIndexed && `${place} needs an index of ${resource.name} that begins with ${at} and covers ${read.join(', ')}`,
  );
}

/** Finds fields that list the objects referring to their own object, but have no index for that. */
function parentErrors({ sdl: { stored }, resources }: Checked): SchemaError[] {
  return [...stored.values()].flatMap(({ type: owner, relations }) =>
    relations.flatMap(({ field, type, isList, member }) => {
      const resource = resources.get(stored.get(type)?.collection ?? '');
      const isIndexed = !isList || !resource || resource.indexes.some((index) => first(index) === member);
      return errorsAt(
        field,
        !isIndexed &&
          `${owner}.${field.name.value} is a list of ${type}, but no index of ${resource.name} begins with ${member}`,
      );
    }),
  );
}
