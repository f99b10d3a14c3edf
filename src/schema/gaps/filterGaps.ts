import type { DocumentNode, FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import { type Filter, filterOf } from '../filters';
import { directiveOf, isListType, namedType, pageOf, rootFieldNodes } from '../sdl';
import { type CheckedResource, sentences } from './sentences';
import { rowFieldsOf } from '../storedTypes';

/* Finds list arguments that would not do what the schema says. */

/** List arguments for paging and sorting, which are not filters. */
const OF_PAGES: readonly string[] = ['sort', 'limit', 'cursor'];
const NO_ORDER =
  'no index of its collection has that order: add one of the member and _id in the definition of the collection';
const NO_INDEX = 'no index of its collection begins with it: add one in the definition of the collection';

/** One message per gap, with what to change where. */
export function filterGaps(document: DocumentNode, lists: readonly CheckedResource[]): string[] {
  return (
    rootFieldNodes(document)
      // lists for users are read from the control database, with their own code
      .filter(({ field }) => pageOf(field) !== undefined && directiveOf(field, 'access')?.role === undefined)
      .flatMap(({ kind, field }) => {
        const list = lists.find(({ name }) => name === field.name.value);
        const gapsOf = argumentGaps(document, field, list);
        return (field.arguments ?? []).flatMap((argument) =>
          gapsOf(argument).map((gap) => `${kind}.${field.name.value}(${argument.name.value}:) ${gap}`),
        );
      })
  );
}

function argumentGaps(
  document: DocumentNode,
  field: FieldDefinitionNode,
  list: CheckedResource | undefined,
): (argument: InputValueDefinitionNode) => string[] {
  const types = new Map(
    rowFieldsOf(document, pageOf(field))?.map(({ name, type }) => [name.value, namedType(type)] as const),
  );
  const inPath = directiveOf(field, 'rest')?.path.split('/') ?? [];
  const indexed = list?.indexes.map(({ on }) => Object.keys(on)[0] ?? '') ?? [];
  const sorted = list?.indexes.filter(givesOrder).map(({ on }) => Object.keys(on)[0] ?? '') ?? [];
  return (argument) => {
    const name = argument.name.value;
    const filter = filterOf(argument);
    if (filter && !list) return ['has a @filter, but no resource has that list (src/resources/index.ts)'];
    if (filter) return ofFilter(filter, argument, types.get(filter.member), indexed);
    if (name === 'sort' && list) return ofSort(argument, sorted);
    if (OF_PAGES.includes(name) || inPath.includes(`:${name}`)) return [];
    return ['has no @filter: say which member of the rows it compares, or remove it'];
  };
}

/** `type` is that of the member, which rows may lack. */
function ofFilter(
  { member, by }: Filter,
  argument: InputValueDefinitionNode,
  type: string | undefined,
  indexed: readonly string[],
): string[] {
  const isSearch = by === 'WORDS';
  if (!isSearch && type === undefined) return [`filters by ${member}, which its rows do not have`];
  const isSpan = by === 'SINCE' || by === 'BEFORE';
  const isOther = isSpan && type !== 'DateTime';
  const [given, wanted] = [namedType(argument.type), isSearch ? 'String' : type];
  return sentences(
    isOther && `is @filter(by: ${by}), but ${member} is not a DateTime`,
    !isOther && given !== wanted && `takes ${given}, but ${member} is ${String(wanted)}`,
    isSpan && isListType(argument.type) && `is @filter(by: ${by}) but takes a list: use a single DateTime`,
    by === 'EQUALS' && type === 'DateTime' && 'compares times for equality: use SINCE or BEFORE',
    !indexed.includes(member) && `filters by ${member}, but ${NO_INDEX}`,
  );
}

/** Whether an index has the order of a list sorted by its first member: then by id, unless no two rows have the same value. */
function givesOrder({ on, options }: CheckedResource['indexes'][number]): boolean {
  const [, second] = Object.keys(on);
  return second === '_id' || (options?.unique === true && second === undefined);
}

function ofSort(argument: InputValueDefinitionNode, sorted: readonly string[]): string[] {
  const sorts = directiveOf(argument, 'constraint')?.one_of ?? [];
  const members = [...new Set(sorts.map((sort) => sort.replace(/^-/, '')))];
  return members.filter((one) => !sorted.includes(one)).map((member) => `sorts by ${member}, but ${NO_ORDER}`);
}
