import { type DefinitionNode, type FieldDefinitionNode, print } from 'graphql';
import { errorsAt, nodeOf, type SchemaError } from '../checks/errors';
import { directiveOf, isObjectNode, isRootType, pageOf, rowName } from '../sdl';
import { namedType } from '../../sdl/nodes';
import type { SchemaModel } from '../model';
import { typeOf } from '../storedTypes';
import type { BulkUpsert } from '../upserts';

/*
 * The shapes that derived operations of the user must have, since the gateway makes their answers and reads their arguments by name. Of built-in
 * operations tests ensure them.
 */

/** Members by name, with their types. */
type Shape = Readonly<Record<string, string>>;

export function shapeErrors(sdl: SchemaModel, ownDefinitions: readonly DefinitionNode[]): SchemaError[] {
  const names = new Set(
    ownDefinitions
      .filter(isObjectNode)
      .flatMap(({ name, fields = [] }) => (isRootType(name.value) ? fields.map((field) => field.name.value) : [])),
  );
  const ofRoots = sdl.roots
    .filter(({ field }) => names.has(field.name.value))
    .flatMap(({ kind, field }) => [
      ...(kind === 'Query' ? [...listShapeErrors(sdl, field), ...totalsErrors(sdl, field)] : []),
      ...changeErrors(sdl, `${kind}.${field.name.value}`, field),
      ...sdl.upserts.filter(({ operation }) => operation === field.name.value).flatMap((call) => bulkErrors(sdl, call)),
    ]);
  const parentLists = [...sdl.stored.values()].flatMap(({ relations }) => relations.filter(({ isList }) => isList));
  return [...ofRoots, ...parentLists.flatMap(({ field }) => argumentErrors(field, PAGED))];
}

/** Arguments that every list takes: without `limit` the cost of a query would not count its rows. */
const PAGED: Shape = { limit: 'Int', cursor: 'String' };

/** Finds members that the type lacks, or has with another type. */
function memberErrors(sdl: SchemaModel, type: string, wanted: Shape): SchemaError[] {
  const fields = new Map(sdl.fieldsOf(type).map((field) => [field.name.value, field]));
  return Object.entries(wanted).flatMap(([name, member]) => {
    const field = fields.get(name);
    const isOther = field && print(field.type) !== member;
    return [
      ...errorsAt(nodeOf(sdl, type), !field && `${type} lacks ${name}: ${member}: add it`),
      ...errorsAt(field, isOther && `${type}.${name} is ${print(field.type)}: write ${member}`),
    ];
  });
}

function listShapeErrors(sdl: SchemaModel, field: FieldDefinitionNode): SchemaError[] {
  const page = pageOf(field);
  const row = rowName(field);
  if (page === undefined || row === undefined || sdl.stored.get(row)?.collection !== field.name.value) return [];
  const shape = { data: `[${row}!]!`, has_more: 'Boolean!', next_cursor: 'String' };
  return [...memberErrors(sdl, page, shape), ...argumentErrors(field, PAGED)];
}

/** Finds arguments that are missing or have another type. */
function argumentErrors(field: FieldDefinitionNode, wanted: Shape): SchemaError[] {
  return Object.entries(wanted).flatMap(([name, type]) => {
    const argument = field.arguments?.find((candidate) => candidate.name.value === name);
    const place = `${field.name.value}(${name}:)`;
    return [
      ...errorsAt(field, !argument && `${field.name.value} lacks the argument ${name}: ${type}: add it`),
      ...errorsAt(
        argument,
        argument && print(argument.type) !== type && `${place} is ${print(argument.type)}: write ${type}`,
      ),
    ];
  });
}

function totalsErrors(sdl: SchemaModel, field: FieldDefinitionNode): SchemaError[] {
  const total = directiveOf(field, 'totals');
  const stored = sdl.stored.get(total?.of ?? '');
  const time = typeOf(stored, total?.at ?? '');
  // a directive that names no time is refused by checks/lists.ts
  if (time === undefined) return [];
  const status = typeOf(stored, 'status');
  const known: Shape = {
    group_by: '[TotalsGroup!]',
    from: time,
    to: time,
    ...(status !== undefined && { status: `[${status}!]` }),
    ...(typeOf(stored, 'customer_id') !== undefined && { customer_id: 'ID' }),
    currency: 'String',
    sort: 'String',
    limit: 'Int',
  };
  const rows = sdl.rowTypeOf(namedType(field.type));
  return [
    ...(field.arguments ?? []).flatMap((argument) => {
      const { value: name } = argument.name;
      const place = `${field.name.value}(${name}:)`;
      const type = known[name];
      return errorsAt(
        argument,
        type === undefined &&
          `${place} has no effect on totals, which take ${Object.keys(known).join(', ')}: remove it`,
        type !== undefined && print(argument.type) !== type && `${place} is ${print(argument.type)}: write ${type}`,
      );
    }),
    ...memberErrors(sdl, namedType(field.type), { data: `[${rows ?? 'Total'}!]!`, has_more: 'Boolean!' }),
    ...(rows === undefined ? [] : memberErrors(sdl, rows, { currency: 'String!', count: 'Int!' })),
  ];
}

function changeErrors(sdl: SchemaModel, place: string, field: FieldDefinitionNode): SchemaError[] {
  if (directiveOf(field, 'rest')?.method !== 'PATCH' || !sdl.stored.has(namedType(field.type))) return [];
  const id = field.arguments?.find(({ name }) => name.value === 'id');
  return errorsAt(
    field,
    (!id || print(id.type) !== 'ID!') && `${place} changes one object, but has no id: ID!: add it`,
  );
}

const COUNTS: Shape = { created: 'Int!', updated: 'Int!', unchanged: 'Int!', failed: 'Int!' };

function bulkErrors(sdl: SchemaModel, { operation, report, result, key, element, list }: BulkUpsert): SchemaError[] {
  const field = sdl.rootField(operation);
  const lacksResults = result === '';
  const members = { index: 'Int!', [key]: 'String', id: 'ID', outcome: 'UpsertOutcome!', errors: '[ElementError!]!' };
  return [
    ...memberErrors(sdl, report, { ...COUNTS, results: `[${lacksResults ? 'Result' : result}!]!` }),
    ...(lacksResults ? [] : memberErrors(sdl, result, members)),
    ...(field ? argumentErrors(field, { [list]: `[${element}!]!`, atomic: 'Boolean', dry_run: 'Boolean' }) : []),
    ...(field ? boundErrors(field, list) : []),
  ];
}

/** Elements of one call: as many as a built-in bulk call takes (test/unit/tables.test.ts). */
export const MOST_ELEMENTS = 1000;

function boundErrors(field: FieldDefinitionNode, list: string): SchemaError[] {
  const argument = field.arguments?.find(({ name }) => name.value === list);
  const { max_items: most } = directiveOf(argument, 'constraint') ?? {};
  const taken = most === undefined ? 'any number of' : String(most);
  return errorsAt(
    argument,
    (most ?? Infinity) > MOST_ELEMENTS &&
      `${field.name.value}(${list}:) takes ${taken} elements: write @constraint(min_items: 1, max_items: ${String(MOST_ELEMENTS)})`,
  );
}
