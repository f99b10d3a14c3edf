import {
  type ASTNode,
  buildASTSchema,
  type DocumentNode,
  type FieldDefinitionNode,
  type GraphQLError,
  Kind,
  print,
  validate,
  ValuesOfCorrectTypeRule,
} from 'graphql';
import { validateSDL } from 'graphql/validation/validate';
import { NEEDED_ROLES } from '../../auth/roles';
import { canBeErased, ERASED, takesFreeText, typesOfCustomer } from '../personal';
import { sufficientScopes } from '../declaredOperations';
import type { SchemaModel } from '../model';
import { scalars } from '../scalars';
import {
  directiveOf,
  FILTER_KINDS,
  isListType,
  isObjectNode,
  isRootType,
  type RootType,
  rowName,
  type Sdl,
  SUBSCRIPTION,
} from '../sdl';
import { namedType } from '../../sdl/nodes';
import { type StoredType, type Types, typesIn } from '../storedTypes';
import { agreementErrors } from './agreement';
import { restrictedErrors } from './restricted';
import { type Checked, errorsAt, errorsOf, type IsResolved, linesOf, nodeOf, type SchemaError } from './errors';
import { indexErrors } from './indexes';
import { lengthErrors } from './lengths';
import { listErrors } from './lists';
import { nameErrors } from './names';
import { restTypeErrors } from './restTypes';
import { writeErrors } from './writes';

/*
 * The schema errors that prevent a start, because they would show data to the wrong callers, lose some, or serve another API than
 * the schema describes.
 */

/** Refuses an invalid schema. @throws Error with a line per error: where, and what to change */
export function refuseErrors(sdl: SchemaModel, isResolved: IsResolved): void {
  const unresolved = (place: string): string => `${place} has no resolver: add one to the resolvers of its resource`;
  const lines = linesOf(sdl, (model) => {
    const errors = documentErrors(model.document);
    return errors.length > 0 ? errors : modelErrors({ sdl: model, isResolved, unresolved });
  });
  if (lines.length > 0) throw new Error(['invalid schema:', ...lines].join('\n'));
}

/** The errors that graphql-js finds, without those that the caller knows and reports in other words; the checks of {@link modelErrors} need a document without any. */
export function documentErrors(
  document: DocumentNode,
  isKnown: (error: GraphQLError) => boolean = () => false,
): SchemaError[] {
  // values of directives, which graphql-js does not check by default, need no other types
  const definitions = document.definitions.filter(({ kind }) => USED_BY_DIRECTIVES.includes(kind));
  const schema = buildASTSchema({ ...document, definitions }, { assumeValidSDL: true, assumeValid: true });
  const values = validate(schema, document, [ValuesOfCorrectTypeRule], { maxErrors: Infinity });
  const errors = [...validateSDL(document), ...values].filter((error) => !isKnown(error));
  return errorsOf(document, errors);
}

const USED_BY_DIRECTIVES: readonly Kind[] = [
  Kind.DIRECTIVE_DEFINITION,
  Kind.SCALAR_TYPE_DEFINITION,
  Kind.ENUM_TYPE_DEFINITION,
  Kind.ENUM_TYPE_EXTENSION,
];

export function modelErrors(checked: Checked): SchemaError[] {
  const { sdl } = checked;
  const { document } = sdl;
  const schema = buildASTSchema(document, { assumeValidSDL: true, assumeValid: true });
  return [
    ...scalarErrors(document),
    ...tableErrors(sdl),
    ...collectionErrors(sdl),
    ...indexErrors(sdl),
    ...sdl.fields.flatMap(({ type, field }) => fieldErrors(checked, type, field)),
    ...amountErrors(document),
    ...relationErrors(sdl),
    ...routeErrors(sdl),
    ...nameErrors(sdl),
    ...scopeErrors(sdl),
    ...callerErrors(sdl),
    ...personalErrors(sdl),
    ...restrictedErrors(sdl),
    ...lengthErrors(sdl),
    ...listErrors(checked),
    ...writeErrors(checked),
    ...agreementErrors(sdl, schema),
    ...restTypeErrors(sdl),
  ];
}

function scalarErrors({ definitions }: DocumentNode): SchemaError[] {
  return definitions.flatMap((node) =>
    node.kind === Kind.SCALAR_TYPE_DEFINITION && !Object.hasOwn(scalars, node.name.value)
      ? errorsAt(node, `nothing checks the scalar ${node.name.value}: add it to src/schema/scalars.ts, or remove it`)
      : [],
  );
}

/** Enums that the code must know in full: permissions to check, and comparisons to make. */
const KNOWN = [
  { name: 'Role', file: 'src/auth/roles.ts', values: Object.keys(NEEDED_ROLES) },
  { name: 'FilterBy', file: 'src/schema/sdl.ts', values: FILTER_KINDS as readonly string[] },
];

function tableErrors(sdl: Sdl): SchemaError[] {
  return KNOWN.flatMap(({ name, file, values }) =>
    sdl
      .enumValuesOf(name)
      .filter((value) => !values.includes(value.name.value))
      .flatMap((node) => errorsAt(node, `enum ${name} has ${node.name.value}, which ${file} lacks: add it there`)),
  );
}

/** The gateway's own collections in an organisation's database; a test checks that this list matches their definitions. */
export const OWN_COLLECTIONS = [
  ...['idempotency_records', 'open_writes', 'write_versions', 'events', 'webhook_deliveries'],
  ...['attachments.files', 'attachments.chunks'],
];

export function collectionErrors(sdl: SchemaModel): SchemaError[] {
  const owners = new Map<string, string>();
  return [...sdl.stored.values()].flatMap(({ type, collection, unique, members }) => {
    const other = owners.get(collection);
    owners.set(collection, type);
    const key = members.find(({ name }) => name === unique);
    const isKey = key?.type === 'String' && key.isRequired && !key.isList;
    return errorsAt(
      nodeOf(sdl, type),
      other !== undefined && `${type} has the same collection as ${other}: use another in @stored`,
      OWN_COLLECTIONS.includes(collection) &&
        `${type} has the collection ${collection}, which is the gateway's own: use another in @stored`,
      unique !== undefined &&
        !isKey &&
        `${type} has @stored(unique: "${unique}"), but ${type} has no ${unique}: String!: add it, or name another member`,
    );
  });
}

function fieldErrors(
  { sdl, isResolved, unresolved }: Checked,
  type: string,
  field: FieldDefinitionNode,
): SchemaError[] {
  const place = `${type}.${field.name.value}`;
  const access = directiveOf(field, 'access');
  const isRoot = isRootType(type) || type === SUBSCRIPTION;
  const role = access?.role;
  const names = Object.keys(access ?? {});
  const stored = isRoot ? shownType(field, sdl.stored) : undefined;
  // an unpaged list of stored objects has no limit
  if (stored && isListType(field.type))
    return errorsAt(field, `${place} is a list of ${stored.type}: write ${stored.type}Page`);
  return errorsAt(
    field,
    isRoot && !access && `${place} has no @access: add it, with the scope or the role that its callers need`,
    names.length > 1 && `${place} has @access(${names.join(':, ')}:): give one of them`,
    role !== undefined &&
      role !== 'OPERATOR' &&
      directiveOf(field, 'rest') &&
      `${place} is for users but has @rest: remove it`,
    (isRoot || access) && !isResolved(type, field.name.value) && unresolved(place, field),
    !isRoot &&
      (access ?? field.arguments?.length) &&
      field.type.kind === Kind.NON_NULL_TYPE &&
      `${place} has ${access ? '@access' : 'arguments'}, so it is null for those who are refused: remove its last !`,
    ...(stored && access ? readErrors(field, place, stored) : []),
  );
}

/** Finds amounts of money that would be rounded, or refused when they are large, and members that are amounts without saying so. */
function amountErrors({ definitions }: DocumentNode): SchemaError[] {
  return definitions.flatMap((node) => {
    if (!isObjectNode(node) && node.kind !== Kind.INPUT_OBJECT_TYPE_DEFINITION) return [];
    const members: readonly ASTNode[] = isRootType(node.name.value) ? [] : (node.fields ?? []);
    return (node.fields ?? [])
      .flatMap((field) => [field, ...('arguments' in field ? (field.arguments ?? []) : [])])
      .flatMap((definition) => {
        const text = `${node.name.value} has ${definition.name.value}: ${print(definition.type)}`;
        const isNamed = definition.name.value.endsWith('_minor');
        const isMoney = namedType(definition.type) === 'Minor';
        return errorsAt(
          definition,
          isNamed && !isMoney && `${text}, but it is money: write Minor`,
          isMoney &&
            !isNamed &&
            members.includes(definition) &&
            `${text}, but its name does not say that it is money: write ${definition.name.value}_minor`,
        );
      });
  });
}

/** The stored type whose objects, pages or totals a root field returns. */
function shownType(field: FieldDefinitionNode, types: Types): StoredType | undefined {
  const names = [directiveOf(field, 'totals')?.of, rowName(field), namedType(field.type)];
  return names.flatMap((name) => types.get(name ?? '') ?? [])[0];
}

function readErrors(field: FieldDefinitionNode, place: string, { type, collection }: StoredType): unknown[] {
  const { scope, ...others } = directiveOf(field, 'access') ?? {};
  if (scope !== undefined) return [];
  const isOpen = Object.keys(others).length === 0;
  return [
    isOpen && `${place} has @access without a scope, so any key could read each ${type}: name one`,
    !isOpen &&
      field.name.value === collection &&
      `${place} has @access without a scope, but a scope decides who gets events of ${collection}: use a single scope`,
  ];
}

function relationErrors({ stored }: SchemaModel): SchemaError[] {
  return [...stored.values()].flatMap(({ type: owner, relations }) =>
    relations.flatMap(({ field, type, isList }) => {
      const place = `${owner}.${field.name.value}`;
      const isAny = Object.keys(directiveOf(field, 'access') ?? {}).length === 0;
      return errorsAt(
        field,
        !isList && isListType(field.type)
          ? `${place} is a list of ${type}: write ${type}Page, or a single object`
          : isAny &&
              `${place} leads to the type ${type}, which any key could read: add @access with the scope for reading it`,
      );
    }),
  );
}

/** Finds duplicate routes, of which only the first would be served. */
function routeErrors({ roots }: Sdl): SchemaError[] {
  const places = new Map<string, string>();
  return roots.flatMap(({ kind, field }) => {
    const rest = directiveOf(field, 'rest');
    if (!rest) return [];
    const place = `${kind}.${field.name.value}`;
    const route = `${rest.method} ${rest.path.replaceAll(/:\w+/g, ':')}`;
    const other = places.get(route);
    places.set(route, place);
    return errorsAt(field, other !== undefined && `${place} has the same route as ${other}: change its path or method`);
  });
}

/** Finds writes that keys made for reading could call. */
function scopeErrors({ roots }: Sdl): SchemaError[] {
  const fieldsOf = (root: RootType) => roots.flatMap(({ kind, field }) => (kind === root ? [field] : []));
  const readers = new Map(
    fieldsOf('Query').flatMap((field) => sufficientScopes(field).map((scope) => [scope, field.name.value] as const)),
  );
  return fieldsOf('Mutation').flatMap((field) => {
    const place = `Mutation.${field.name.value}`;
    const scope = sufficientScopes(field).find((sufficient) => readers.has(sufficient));
    return errorsAt(
      field,
      scope !== undefined &&
        `${place} has the scope ${scope}, with which keys can read Query.${String(readers.get(scope))}: use another for writes`,
      directiveOf(field, 'access')?.events === true &&
        `${place} has @access(events: true), with which keys can read events: use another for writes`,
    );
  });
}

/** Finds operations for other callers in the operators' schema. In the other schema, OPERATOR is not a role. */
function callerErrors({ roots }: Sdl): SchemaError[] {
  const isOperators = ({ field }: (typeof roots)[number]): boolean => directiveOf(field, 'access')?.role === 'OPERATOR';
  if (!roots.some(isOperators)) return [];
  return roots
    .filter((root) => !isOperators(root))
    .flatMap(({ kind, field }) =>
      errorsAt(field, `${kind}.${field.name.value} is not for operators: write @access(role: OPERATOR)`),
    );
}

/** Finds personal data that erasing a customer would leave behind. */
function personalErrors(sdl: SchemaModel): SchemaError[] {
  const withPersonalData = [...new Set(typesOfCustomer(sdl.stored).flatMap(({ stored, parts }) => [stored, ...parts]))];
  const own = new Set(withPersonalData.flatMap(({ type, members }) => members.map(({ name }) => `${type}.${name}`)));
  const misplaced = new Set<string>();
  const stray = sdl.fields.flatMap(({ type, field }) => {
    const place = `${type}.${field.name.value}`;
    if (!directiveOf(field, 'personal') || own.has(place)) return [];
    const enclosing = withPersonalData.flatMap((stored) =>
      stored.members.filter((member) => typesIn(member).includes(type)).map(({ name }) => `${stored.type}.${name}`),
    );
    for (const member of enclosing) misplaced.add(member);
    const why =
      enclosing.length > 0
        ? `that is said of whole objects: write it on ${enclosing.join(' and ')} instead`
        : 'is not a member of a stored type that refers to a customer: remove @personal';
    return errorsAt(field, `${place} is @personal, but ${why}`);
  });
  return [...withPersonalData.flatMap((stored) => erasureErrors(sdl, stored, misplaced)), ...stray];
}

/** `misplaced` are members with @personal inside them, of which that is an error already. */
function erasureErrors(sdl: Sdl, { type, unique, members }: StoredType, misplaced: ReadonlySet<string>): SchemaError[] {
  return sdl.fieldsOf(type).flatMap((field) => {
    const member = members.find(({ name }) => name === field.name.value);
    if (!member) return [];
    const place = `${type}.${member.name}`;
    const personal = directiveOf(field, 'personal');
    // the unique member needs no @personal: every object keeps the name by which callers know it
    if (member.name === unique)
      return errorsAt(
        field,
        personal?.erased === true &&
          `${place} is @personal, but no two objects may have the same, as those that were erased would: add erased: false`,
      );
    return errorsAt(
      field,
      !personal &&
        !misplaced.has(place) &&
        takesFreeText(sdl, field, member) &&
        `${place} takes any text about a customer: add @personal, so that erasing the customer erases it, or @personal(erased: false) to keep it`,
      personal?.erased === true &&
        !canBeErased(field, member) &&
        `${place} is @personal but can be neither null nor the text "${ERASED}", which replaces what is erased: make it nullable`,
    );
  });
}
