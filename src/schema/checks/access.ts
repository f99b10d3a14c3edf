import { type FieldDefinitionNode, Kind } from 'graphql';
import { sufficientScopes } from '../declaredOperations';
import type { SchemaModel } from '../model';
import { directiveOf, isListType, isRootType, type RootType, rowName, type Sdl, SUBSCRIPTION } from '../sdl';
import { namedType } from '../../sdl/nodes';
import type { StoredType, StoredTypes } from '../storedTypes';
import { type Checked, errorsAt, type SchemaError } from './errors';

/* Finds fields that the wrong callers could use: without @access, or with one that does not keep them out. */

export function accessErrors(checked: Checked): SchemaError[] {
  const { sdl } = checked;
  return [
    ...sdl.fields.flatMap(({ type, field }) => fieldErrors(checked, type, field)),
    ...relationErrors(sdl),
    ...scopeErrors(sdl),
    ...callerErrors(sdl),
  ];
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
  const ways = Object.keys(access ?? {});
  const stored = isRoot ? shownType(field, sdl.stored) : undefined;
  // only a page has a limit
  if (stored && isListType(field.type))
    return errorsAt(field, `${place} is a list of ${stored.type}: write ${stored.type}Page`);
  return errorsAt(
    field,
    isRoot && !access && `${place} has no @access: add it, with the scope or the role that its callers need`,
    ways.length > 1 && `${place} has @access(${ways.join(':, ')}:): give one of them`,
    role !== undefined &&
      role !== 'OPERATOR' &&
      directiveOf(field, 'rest') &&
      `${place} is for users but has @rest: remove it`,
    (isRoot || access) && !isResolved(type, field.name.value) && unresolved(place, field),
    !isRoot &&
      (access ?? field.arguments?.length) &&
      field.type.kind === Kind.NON_NULL_TYPE &&
      `${place} has ${access ? '@access' : 'arguments'}, so it is null for those who are refused: remove its last !`,
    type === 'Mutation' &&
      access &&
      !stored &&
      isOpen(field) &&
      `${place} has @access without a scope, so any key could call it: name one`,
    ...(stored && access ? readErrors(field, place, stored) : []),
    // signed-in users may read figures
    stored &&
      directiveOf(field, 'aggregates') &&
      `${place} has @aggregates, but returns each ${stored.type}: remove it, or return a type of its own`,
  );
}

/** The stored type whose objects, pages or totals a root field returns. */
function shownType(field: FieldDefinitionNode, types: StoredTypes): StoredType | undefined {
  const names = [directiveOf(field, 'totals')?.of, rowName(field), namedType(field.type)];
  return names.flatMap((name) => types.get(name ?? '') ?? [])[0];
}

/** Whether any key may use a field. */
function isOpen(field: FieldDefinitionNode): boolean {
  const { role, events } = directiveOf(field, 'access') ?? {};
  return role === undefined && events !== true && sufficientScopes(field).length === 0;
}

/** The error of a field that leads to stored objects of a type for all who receive any events. */
const eventsError = (field: FieldDefinitionNode, place: string, type: string): unknown =>
  directiveOf(field, 'access')?.events === true &&
  `${place} has @access(events: true), with which keys for other types could read each ${type}: name a scope`;

/** Finds reads of stored objects without a scope; `field` has @access. The texts are for {@link errorsAt}. */
function readErrors(field: FieldDefinitionNode, place: string, { type, collection }: StoredType): unknown[] {
  if (directiveOf(field, 'access')?.scope !== undefined) return [];
  return [
    isOpen(field) && `${place} has @access without a scope, so any key could read each ${type}: name one`,
    eventsError(field, place, type),
    !isOpen(field) &&
      field.name.value === collection &&
      `${place} has @access without a scope, but a scope decides who gets events of ${collection}: use a single scope`,
  ];
}

/** Finds fields of stored objects that lead to others without a limit, or for any key. */
function relationErrors({ stored }: SchemaModel): SchemaError[] {
  return [...stored.values()].flatMap(({ type: owner, relations }) =>
    relations.flatMap(({ field, type, isList }) => {
      const place = `${owner}.${field.name.value}`;
      if (!isList && isListType(field.type))
        return errorsAt(field, `${place} is a list of ${type}: write ${type}Page, or a single object`);
      return errorsAt(
        field,
        isOpen(field) &&
          `${place} leads to the type ${type}, which any key could read: add @access with the scope for reading it`,
        eventsError(field, place, type),
      );
    }),
  );
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

/** Finds operations for other callers in the operator API's schema, which is the one that has any for operators. */
function callerErrors({ roots }: Sdl): SchemaError[] {
  const isOperators = ({ field }: (typeof roots)[number]): boolean => directiveOf(field, 'access')?.role === 'OPERATOR';
  if (!roots.some(isOperators)) return [];
  return roots
    .filter((root) => !isOperators(root))
    .flatMap(({ kind, field }) =>
      errorsAt(field, `${kind}.${field.name.value} is not for operators: write @access(role: OPERATOR)`),
    );
}
