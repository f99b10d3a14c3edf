import type { DocumentNode, FieldDefinitionNode, InputValueDefinitionNode } from 'graphql';
import { shapeGaps } from './answerShapes';
import { filterOf } from '../filters';
import type { ResolverTable } from '../resolvers';
import { allFieldNodes, directiveOf, fieldsOf, isListType, namedType, PAGE, pageOf, rowName } from '../sdl';
import { sentences } from './sentences';
import { type StoredType, storedTypes, type Types } from '../storedTypes';

/* Finds lists whose pages would not be what the schema says. */

/** Rows of a page that is asked for without `limit`; tests hold it equal to DEFAULT_LIMIT of src/database/pagination.ts. */
export const PAGE_SIZE = 20;

const BOUNDS = `@constraint(min: 1, max: 100, default: ${String(PAGE_SIZE)})`;

/** One message per gap, with what to change where. */
export function listGaps(document: DocumentNode, resolvers: ResolverTable): string[] {
  const types = storedTypes(document);
  const ofFields = allFieldNodes(document).flatMap(({ type, field }) => {
    const place = `${type}.${field.name.value}`;
    const rows = types.get(rowName(field) ?? '');
    return [
      ...[...limitGaps(field), ...(rows ? argumentGaps(field) : [])].map((gap) => `${place} ${gap}`),
      ...(rows ? sortGaps(field, rows).map((gap) => `${place}(sort:) ${gap}`) : []),
      ...repeatedSpans(field).map((gap) => `${place}${gap}`),
    ];
  });
  return [
    ...ofFields,
    ...[...types.keys()].flatMap((type) => pageGaps(document, type, resolvers)),
    ...pageNameGaps(document, types),
  ];
}

function argumentOf({ arguments: args = [] }: FieldDefinitionNode, name: string): InputValueDefinitionNode | undefined {
  return args.find((one) => one.name.value === name);
}

function limitGaps(field: FieldDefinitionNode): string[] {
  const limit = argumentOf(field, 'limit');
  if (!limit) return [];
  const { min, max, default: otherwise } = directiveOf(limit, 'constraint') ?? {};
  const isBounded = min !== undefined && max !== undefined && otherwise !== undefined;
  return sentences(
    !isBounded && `has a limit without min, max and default: add ${BOUNDS} to it`,
    isBounded &&
      pageOf(field) !== undefined &&
      otherwise !== PAGE_SIZE &&
      `has a limit with default: ${String(otherwise)}, but a page without it has ${String(PAGE_SIZE)} rows: write default: ${String(PAGE_SIZE)}`,
  );
}

/** Gaps of a list without the arguments that lead to all of its rows. */
function argumentGaps(field: FieldDefinitionNode): string[] {
  return sentences(
    !argumentOf(field, 'limit') && `is a list without limit: add limit: Int ${BOUNDS}`,
    !argumentOf(field, 'cursor') && 'is a list without cursor: add cursor: String @constraint(max_length: 2048)',
  );
}

function sortGaps(field: FieldDefinitionNode, { members, omittedInLists }: StoredType): string[] {
  const sort = argumentOf(field, 'sort');
  if (!sort) return [];
  const { one_of: sorts = [] } = directiveOf(sort, 'constraint') ?? {};
  const names = new Set(sorts.map((one) => one.replace(/^-/, '')));
  return sentences(
    (namedType(sort.type) !== 'String' || isListType(sort.type)) && 'is not a String: a list has one sort at a time',
    sorts.length === 0 && 'takes any text: add @constraint(one_of:) with the members that it sorts by',
    ...members
      .filter(({ name }) => names.has(name))
      .map(({ name, kind, isList, isRequired, type }) => {
        const isComparable = (kind === 'text' || kind === 'date') && !isList;
        if (!isComparable) return `sorts by ${name}, which is ${type}: pages can only continue after a text or a time`;
        return !isRequired && `sorts by ${name}, which may be null: no page could continue after such a row`;
      }),
    ...omittedInLists
      .filter((name) => names.has(name))
      .map((name) => `sorts by ${name}, which lists omit: remove its @graphql_only(on: LISTS)`),
  );
}

/** Finds a second bound of the same kind on one member, which would replace the first. */
function repeatedSpans({ arguments: args = [] }: FieldDefinitionNode): string[] {
  const first = new Map<string, string>();
  return args.flatMap((argument) => {
    const filter = filterOf(argument);
    if (!filter || (filter.by !== 'SINCE' && filter.by !== 'BEFORE')) return [];
    const span = `${filter.by} of ${filter.member}`;
    const other = first.get(span);
    first.set(span, filter.argument);
    return sentences(
      other !== undefined && `(${filter.argument}:) is a second ${span}, beside ${other}: remove one of them`,
    );
  });
}

function pageGaps(document: DocumentNode, row: string, resolvers: ResolverTable): string[] {
  const page = `${row}${PAGE}`;
  // a type that no list returns has no page
  if (fieldsOf(document, page).length === 0) return [];
  const shape = { data: `[${row}!]!`, has_more: 'Boolean!', next_cursor: 'String' };
  return shapeGaps(document, page, shape, resolvers);
}

/** Finds pages whose names lead to another type than their rows, or to none. */
function pageNameGaps(document: DocumentNode, types: Types): string[] {
  return allFieldNodes(document).flatMap(({ type, field }) => {
    const rows = namedType(field.type);
    const isPage = field.name.value === 'data' && type.endsWith(PAGE) && types.has(rows);
    const named = type.slice(0, -PAGE.length);
    // the page of a stored type has the gap that its rows are of another
    return sentences(
      isPage && named !== rows && !types.has(named) && `${type} has rows of ${rows}: rename it ${rows}${PAGE}`,
    );
  });
}
