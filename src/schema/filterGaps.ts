import type { DocumentNode, FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import { directiveOf, enumArgument, pageOf, rootFieldNodes, stringArgument, stringsArgument } from './sdl';
import { type Filter, type FilterBy, filterOf } from './filters';
import { isListType, namedType, rowFieldsOf } from './stored';
import type { CheckedResource } from './storedGaps';

/* Finds list arguments that would not do what the schema says. */

/** List arguments for paging and sorting, which are not filters. */
const OF_PAGES: readonly string[] = ['sort', 'limit', 'cursor'];
const NO_INDEX = 'no index of its collection begins with it: add one in the definition of the collection';
const TIMES: readonly FilterBy[] = ['SINCE', 'BEFORE'];

/** One message per gap, with what to change where. */
export function filterGaps(document: DocumentNode, lists: readonly CheckedResource[]): string[] {
  return (
    rootFieldNodes(document)
      // lists for users are read from the control database, with their own code
      .filter(({ field }) => pageOf(field) !== undefined && !isForUsers(field))
      .flatMap(({ kind, field }) => listGaps(document, field, `${kind}.${field.name.value}`, lists))
  );
}

function listGaps(
  document: DocumentNode,
  field: FieldDefinitionNode,
  place: string,
  lists: readonly CheckedResource[],
): string[] {
  const row = rowOf(document, pageOf(field));
  const rest = directiveOf(field, 'rest');
  const inPath = rest ? stringArgument(rest, 'path').split('/') : [];
  const list = lists.find(({ name }) => name === field.name.value);
  return (field.arguments ?? []).flatMap((argument) => {
    const name = argument.name.value;
    const where = `${place}(${name}:)`;
    const filter = filterOf(argument);
    if (filter && !list) return `${where} has a @filter, but no resource has that list (src/resources/index.ts)`;
    if (filter && list) return argumentGaps(filter, argument, row, list).map((gap) => `${where} ${gap}`);
    if (name === 'sort' && list) return sortGaps(argument, list).map((gap) => `${where} ${gap}`);
    if (OF_PAGES.includes(name) || inPath.includes(`:${name}`)) return [];
    return `${where} has no @filter: say which member of the rows it compares, or remove it`;
  });
}

function argumentGaps(
  { member, by }: Filter,
  argument: InputValueDefinitionNode,
  row: ReadonlyMap<string, string> | undefined,
  resource: CheckedResource,
): string[] {
  const indexed = firstIndexed(resource);
  const type = row?.get(member);
  if (by !== 'WORDS' && type === undefined) return [`filters by ${member}, which its rows do not have`];
  const gaps: string[] = [];
  const isSpan = TIMES.includes(by);
  const given = namedType(argument.type);
  const wanted = by === 'WORDS' ? 'String' : type;
  if (isSpan && type !== 'DateTime') gaps.push(`is @filter(by: ${by}), but ${member} is not a DateTime`);
  else if (given !== wanted) gaps.push(`takes ${given}, but ${member} is ${String(wanted)}`);
  if (isSpan && isListType(argument.type)) gaps.push(`is @filter(by: ${by}) but takes a list: use a single DateTime`);
  if (by === 'EQUALS' && type === 'DateTime') gaps.push('compares times for equality: use SINCE or BEFORE');
  if (!indexed.includes(member)) gaps.push(`filters by ${member}, but ${NO_INDEX}`);
  return gaps;
}

function sortGaps(argument: InputValueDefinitionNode, resource: CheckedResource): string[] {
  const indexed = firstIndexed(resource);
  const constraint = directiveOf(argument, 'constraint');
  const sorts = constraint ? stringsArgument(constraint, 'one_of') : [];
  const members = new Set(sorts.map((sort) => sort.replace(/^-/, '')));
  return [...members].flatMap((member) => (indexed.includes(member) ? [] : `sorts by ${member}, but ${NO_INDEX}`));
}

/** The first members of the indexes of a collection. */
function firstIndexed({ indexes }: CheckedResource): string[] {
  return indexes.map(({ on }) => Object.keys(on)[0] ?? '');
}

function isForUsers(field: FieldDefinitionNode): boolean {
  const access = directiveOf(field, 'access');
  return access !== undefined && enumArgument(access, 'role') !== undefined;
}

/** The members of a page's rows, with their type names. */
function rowOf(document: DocumentNode, page: string | undefined): ReadonlyMap<string, string> | undefined {
  const fields = rowFieldsOf(document, page);
  return fields && new Map(fields.map((field) => [field.name.value, namedType(field.type)]));
}
