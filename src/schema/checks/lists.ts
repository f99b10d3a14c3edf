import { type FieldDefinitionNode, type InputValueDefinitionNode, Kind } from 'graphql';
import { type Filter, filterOf, ID, isSpan, SPANS, TIME_TYPES } from '../filters';
import { sortsOf } from '../indexes';
import { PAIR } from '../metadata';
import type { SchemaModel } from '../model';
import { directiveOf, isListType, pageOf, rowName, type Sdl } from '../sdl';
import { namedType } from '../../sdl/nodes';
import { COMPUTED_FIELDS, type StoredType, typeOf } from '../storedTypes';
import { TOTALS_ROWS } from '../../units';
import { type Checked, errorsAt, type SchemaError } from './errors';

/* Finds arguments of lists that would have no effect or a wrong one, limits without bounds, and totals that cannot be computed. */

/** Arguments of a parent's list, such as a customer's quotes. */
const OF_PARENT: readonly string[] = ['limit', 'cursor'];
/** Arguments of a root list that are no filters. */
const PAGING_ARGUMENTS: readonly string[] = ['sort', ...OF_PARENT];

export function listErrors(checked: Checked): SchemaError[] {
  return [
    ...checked.sdl.fields.flatMap(({ type, field }) => limitErrors(type, field)),
    ...checked.sdl.roots.flatMap(({ kind, field }) => [
      ...(kind === 'Query' ? argumentErrors(checked, field) : []),
      ...totalsErrors(checked, `${kind}.${field.name.value}`, field),
      ...toolErrors(checked.sdl, `${kind}.${field.name.value}`, field),
    ]),
    ...[...checked.sdl.stored.values()].flatMap(parentListErrors),
    ...checked.sdl.fields.flatMap(({ type, field }) => memberFilterErrors(checked.sdl, type, field)),
  ];
}

/** Finds members with @filter that add no argument to a list (sdl/addedArguments.ts): without a list, or with one that has another of the name. */
function memberFilterErrors(sdl: SchemaModel, type: string, field: FieldDefinitionNode): SchemaError[] {
  if (!directiveOf(field, 'filter')) return [];
  const { value: name } = field.name;
  const collection = sdl.stored.get(type)?.collection;
  const list = sdl.rootField(collection ?? '');
  const names = TIME_TYPES.includes(namedType(field.type)) ? [`${name}_since`, `${name}_before`] : [name];
  const other = (list?.arguments ?? []).find(
    (argument) => names.includes(argument.name.value) && filterOf(argument)?.member !== name,
  );
  return errorsAt(
    field,
    !list &&
      `${type}.${name} has @filter, but ${collection === undefined ? 'is in the rows of no list' : `there is no list Query.${collection}`}: remove @filter`,
    list &&
      other &&
      `${type}.${name} has @filter, but Query.${list.name.value}(${other.name.value}:) is another argument: rename the member, or write @filter(member: "${name}") on an argument with another name`,
  );
}

/** Finds arguments of parents' lists that would have no effect. */
function parentListErrors({ type, relations }: StoredType): SchemaError[] {
  const args = relations.flatMap(({ field, isList }) =>
    isList ? (field.arguments ?? []).map((argument) => ({ field, argument })) : [],
  );
  return args
    .filter(({ argument }) => !OF_PARENT.includes(argument.name.value))
    .flatMap(({ field, argument }) =>
      errorsAt(
        argument,
        `${type}.${field.name.value}(${argument.name.value}:) has no effect on a list that is newest first and takes ${OF_PARENT.join(' and ')}: remove it`,
      ),
    );
}

/** The largest `limit` that a list may allow (contract, section 6), and the default that an error proposes. */
const PAGE_LIMIT = { most: 100, usual: 20 };
const TOTALS_LIMIT = { most: TOTALS_ROWS, usual: TOTALS_ROWS };

/** Finds limits that would let one request read everything. */
function limitErrors(type: string, field: FieldDefinitionNode): SchemaError[] {
  const limit = field.arguments?.find((argument) => argument.name.value === 'limit');
  const { min, max, default: usual } = directiveOf(limit, 'constraint') ?? {};
  const isBounded = min !== undefined && max !== undefined && usual !== undefined;
  const bounds = directiveOf(field, 'totals') ? TOTALS_LIMIT : PAGE_LIMIT;
  const isTaken = isBounded && min >= 1 && min <= usual && usual <= max && max <= bounds.most;
  const place = `${type}.${field.name.value}`;
  const constraint = `@constraint(min: 1, max: ${String(bounds.most)}, default: ${String(bounds.usual)})`;
  const ofTools = directiveOf(field, 'mcp')?.limit;
  return [
    ...errorsAt(
      limit,
      limit && !isBounded && `${place} has a limit without min, max and default: add ${constraint} to it`,
      limit &&
        isBounded &&
        !isTaken &&
        `${place} has a limit of ${String(min)} to ${String(max)}, ${String(usual)} by default, but it may have 1 to ${String(bounds.most)}, with the default between: write ${constraint}`,
    ),
    ...errorsAt(
      field,
      ofTools !== undefined &&
        !(ofTools >= 1 && ofTools <= (max ?? bounds.most)) &&
        `${place} has @mcp(limit: ${String(ofTools)}), but its limit is 1 to ${String(max ?? bounds.most)}: write one of these`,
    ),
  ];
}

/** Finds members that the rows of a tool (@mcp) lack, which its answers would leave out without a word. */
function toolErrors(sdl: Sdl, place: string, field: FieldDefinitionNode): SchemaError[] {
  const rows = sdl.rowFieldsOf(namedType(field.type)) ?? [];
  const named = directiveOf(field, 'mcp')?.fields ?? [];
  return named.flatMap((name) =>
    errorsAt(
      field,
      !rows.some((row) => row.name.value === name) &&
        `${place} has @mcp(fields:) with ${name}, which its rows lack: remove or correct it`,
    ),
  );
}

/** Finds arguments of a root list that are no filter and none of {@link PAGING_ARGUMENTS}, and filters and sorts that do not fit its rows. */
function argumentErrors({ sdl }: Checked, field: FieldDefinitionNode): SchemaError[] {
  // lists for users are read from the control database, with their own code
  if (pageOf(field) === undefined || directiveOf(field, 'access')?.role !== undefined) return [];
  // the lists that have a resolver without code; others, such as events, see to their filters themselves
  const isStored = sdl.stored.get(rowName(field) ?? '')?.collection === field.name.value;
  const members = new Map(sdl.rowFieldsOf(pageOf(field))?.map((member) => [member.name.value, member] as const));
  const inPath = directiveOf(field, 'rest')?.path.split('/') ?? [];
  return (field.arguments ?? []).flatMap((argument) => {
    const { value: name } = argument.name;
    const filter = filterOf(argument);
    const errors =
      filter && isStored
        ? filter.by === 'EMAIL'
          ? emailErrors(sdl, filter, members)
          : filterErrors(filter, argument, members.get(filter.member))
        : name === 'sort' && isStored
          ? sortErrors(field, members, (type) => sdl.fieldsOf(type).length > 0)
          : [
              filter && 'has a @filter, but its list is not that of a type with @stored: name it like the collection',
              !filter &&
                !PAGING_ARGUMENTS.includes(name) &&
                !inPath.includes(`:${name}`) &&
                'has no @filter: say which member of the rows it compares, or remove it',
            ];
    return errorsAt(argument, ...errors).map(({ node, text }) => ({
      node,
      text: `Query.${field.name.value}(${name}:) ${text}`,
    }));
  });
}

/** The errors of a filter, for {@link errorsAt}. `row` is the member of the rows that it compares; undefined if they lack it. */
function filterErrors(
  { member, by }: Filter,
  argument: InputValueDefinitionNode,
  row: FieldDefinitionNode | undefined,
): unknown[] {
  const type = row && namedType(row.type);
  if (by !== 'WORDS' && type === undefined) return [`filters by ${member}, which its rows do not have`];
  if (by === 'METADATA' && type !== PAIR) return [`is @filter(by: METADATA), but ${member} is not [${PAIR}!]!`];
  const isText = by === 'WORDS' || by === 'METADATA';
  // a search has words of any members, metadata a text of the form key:value
  const wantedType = isText ? 'String' : String(type);
  const compared = isSpan(by) ? SPANS[by].of : undefined;
  if (compared?.includes(wantedType) === false)
    return [`is @filter(by: ${by}), but ${member} is not a ${compared.join(' or ')}`];
  const argumentType = namedType(argument.type);
  const { pattern } = directiveOf(argument, 'constraint') ?? {};
  return [
    by === 'METADATA' &&
      // 'key' has no colon
      (pattern === undefined || new RegExp(pattern).test('key')) &&
      'takes texts without a colon: add @constraint(pattern:) for key:value, as metadata of Query.quotes has it',
    argumentType !== wantedType && `takes ${argumentType}, but ${member} is ${wantedType}`,
    compared && isListType(argument.type) && `is @filter(by: ${by}) but takes a list: use a single ${wantedType}`,
  ];
}

/** The errors of a filter by addresses, whose members may be those of objects in a list: `contacts.email`. */
function emailErrors(sdl: Sdl, { members, type }: Filter, rows: ReadonlyMap<string, FieldDefinitionNode>): unknown[] {
  const memberAt = (path: string): FieldDefinitionNode | undefined => {
    const [first = '', ...others] = path.split('.');
    let member = rows.get(first);
    for (const part of others)
      member = member && sdl.fieldsOf(namedType(member.type)).find(({ name }) => name.value === part);
    return member;
  };
  const errorAt = (path: string): string | false => {
    const member = memberAt(path);
    if (!member || namedType(member.type) !== 'String') return `filters by ${path}, which is no String of its rows`;
    return (
      !directiveOf(member, 'searchable') && `filters by ${path}, whose words are not stored: add @searchable to it`
    );
  };
  return [
    members.length === 0 && 'is @filter(by: EMAIL) without members: name those with addresses',
    type !== 'String' && `takes ${type}, but addresses are String`,
    ...members.map(errorAt),
  ];
}

/** Finds sorts by what the rows lack, and by lists, objects and nulls, which have no order that pages could follow. */
function sortErrors(
  field: FieldDefinitionNode,
  members: ReadonlyMap<string, FieldDefinitionNode>,
  isObject: (type: string) => boolean,
): string[] {
  return sortsOf(field).flatMap((member) => {
    const type = members.get(member)?.type;
    if (type === undefined) return [`sorts by ${member}, which its rows do not have`];
    if (member === ID || COMPUTED_FIELDS.has(member))
      return [`sorts by ${member}, which no rows are ordered by: remove it`];
    if (isListType(type) || isObject(namedType(type))) return [`sorts by ${member}, which is not a single value`];
    const isNullable = type.kind !== Kind.NON_NULL_TYPE;
    return isNullable ? [`sorts by ${member}, so its pages would leave out rows without it: remove it`] : [];
  });
}

/** Finds totals of no stored type, by no time, or of amounts without a currency. */
function totalsErrors({ sdl }: Checked, place: string, field: FieldDefinitionNode): SchemaError[] {
  const { of, at = '' } = directiveOf(field, 'totals') ?? {};
  if (of === undefined) return [];
  const stored = sdl.stored.get(of);
  const isTime = TIME_TYPES.includes(typeOf(stored, at) ?? '');
  const isNullable = stored?.members.some(({ name, isRequired }) => name === at && !isRequired);
  return errorsAt(
    field,
    !stored && `${place} has @totals(of: "${of}"), which is not a type with @stored: name one`,
    stored &&
      !isTime &&
      `${place} has @totals(at: "${at}"), but ${of} has no such DateTime or Date: add it, or name another member`,
    isTime &&
      isNullable &&
      `${place} has @totals(at: "${at}"), so it would leave out each ${of} without it: name a member that is never null`,
    stored &&
      typeOf(stored, 'currency') !== 'String' &&
      `${place} sums amounts by currency, but ${of} has no currency: add currency: String!`,
  );
}
