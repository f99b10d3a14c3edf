import {
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  isLeafType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { type Projection, WITHOUT_SEARCH } from '../mongo/collection';
import { memberOf } from '../operations/build';
import { fieldsIn } from '../operations/selection';
import { METADATA, METADATA_VALUE } from '../schema/metadata';
import { ROWS } from '../schema/sdl';
import type { StoredType } from '../schema/storedTypes';

/*
 * The members that an operation needs of stored rows: those that it selects, and the ids that its relations follow. All others stay in
 * the database. A field with another resolver, such as the entity tag, needs the whole row.
 */

interface Stored {
  readonly stored: Pick<StoredType, 'type' | 'relations'>;
}

/** By the nodes of a field, of which graphql-js makes one array for all its rows; a field leads to one type, and adds the same member. */
const byNodes = new WeakMap<readonly FieldNode[], Projection>();

/** The members to read of the object being resolved. */
export function projectionOfObject(of: Stored, info: GraphQLResolveInfo): Projection {
  return projectionAt(of, info, (nodes) => nodes);
}

/** The members to read of the rows of the list being resolved, and one more if given. */
export function projectionOfList(of: Stored, info: GraphQLResolveInfo, member?: string): Projection {
  const rowsIn = (nodes: readonly FieldNode[]): readonly FieldNode[] =>
    fieldsIn(nodes, fragmentsOf(info)).filter(({ name }) => name.value === ROWS);
  return projectionAt(of, info, rowsIn, member);
}

function projectionAt(
  of: Stored,
  info: GraphQLResolveInfo,
  rowsIn: (nodes: readonly FieldNode[]) => readonly FieldNode[],
  member?: string,
): Projection {
  const { fieldNodes } = info;
  let projection = byNodes.get(fieldNodes);
  if (!projection) byNodes.set(fieldNodes, (projection = projectionFor(of, info, rowsIn(fieldNodes), member)));
  return projection;
}

const referencesByOperation = new WeakMap<OperationDefinitionNode, Map<string, Projection>>();

/**
 * The members to read of rows that other rows refer to: what the operation selects of them in all places together, so that no row has to
 * be read twice.
 */
export function projectionOfReferences(of: Stored, info: GraphQLResolveInfo): Projection {
  const { operation } = info;
  let byType = referencesByOperation.get(operation);
  if (!byType) referencesByOperation.set(operation, (byType = new Map<string, Projection>()));
  const { type } = of.stored;
  let projection = byType.get(type);
  if (!projection) byType.set(type, (projection = projectionFor(of, info, referencesTo(type, info))));
  return projection;
}

type Fragments = (name: string) => FragmentDefinitionNode | undefined;

function fragmentsOf({ fragments }: GraphQLResolveInfo): Fragments {
  return (name) => fragments[name];
}

/**
 * The nodes of an operation's fields that lead from a row to one of a type. Visits each fragment once. The SDL has no interfaces or unions, and
 * folders may not add any, so the type condition of a fragment changes nothing.
 */
function referencesTo(type: string, info: GraphQLResolveInfo): FieldNode[] {
  const { schema, operation } = info;
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const fields: FieldNode[] = [];
  const visited = new Set<string>();
  const walk = (set: SelectionSetNode, on: unknown): void => {
    if (!isObjectType(on)) return;
    for (const selection of set.selections) {
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        walk(selection.selectionSet, on);
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const { value: name } = selection.name;
        const fragment = info.fragments[name];
        if (!fragment || visited.has(name)) continue;
        visited.add(name);
        walk(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value));
      } else if (selection.selectionSet) {
        const outer = on.getFields()[selection.name.value]?.type;
        if (!outer) continue;
        const inner = getNamedType(outer);
        if (inner.name === type && !roots.includes(on) && !isListType(getNullableType(outer))) fields.push(selection);
        walk(selection.selectionSet, inner);
      }
    }
  };
  walk(operation.selectionSet, schema.getRootType(operation.operation));
  return fields;
}

/** The most projections kept of an operation. */
const MOST_SHARED = 64;
/** One object for each type and set of members, since reads are batched by that object. It lives as long as the operation. */
const sharedByOperation = new WeakMap<OperationDefinitionNode, Map<string, Projection>>();

function projectionFor(
  { stored }: Stored,
  info: GraphQLResolveInfo,
  nodes: readonly FieldNode[],
  member?: string,
): Projection {
  const members = new Set(member === undefined ? [] : [member]);
  const type = info.schema.getType(stored.type) as GraphQLObjectType;
  const row = { type, prefix: '', relations: stored.relations, fragments: fragmentsOf(info) };
  const isWhole = !addMembers(members, nodes, row);
  let byMembers = sharedByOperation.get(info.operation);
  if (!byMembers) sharedByOperation.set(info.operation, (byMembers = new Map<string, Projection>()));
  const names = isWhole ? [] : [...members.add('_id')].sort();
  const key = `${stored.type} ${names.join()}`;
  let projection = byMembers.get(key);
  // what @include leaves of a selection depends on variables, so a document has any number
  if (!projection && byMembers.size >= MOST_SHARED) byMembers.clear();
  if (!projection)
    byMembers.set(
      key,
      (projection = isWhole ? { ...WITHOUT_SEARCH } : Object.fromEntries(names.map((name) => [name, 1]))),
    );
  return projection;
}

/** The object whose members are added: a row, or one inside it. */
interface Place {
  readonly type: GraphQLObjectType;
  /** The path of the object in its row, with a dot at its end. */
  readonly prefix: string;
  /** Of a row; an object inside it has none. */
  readonly relations: StoredType['relations'];
  readonly fragments: Fragments;
}

/** Adds the members that nodes select of an object; false if the whole row is needed. */
function addMembers(members: Set<string>, nodes: readonly FieldNode[], place: Place): boolean {
  const { type, prefix, relations, fragments } = place;
  const fields = type.getFields();
  return fieldsIn(nodes, fragments).every((node) => {
    const { value: name } = node.name;
    if (name === '__typename') return true;
    const field = fields[name];
    const member = field && memberOf(field);
    if (name === METADATA_VALUE) {
      for (const part of ['key', 'value']) members.add(`${prefix}${METADATA}.${part}`);
      return true;
    }
    // a relation, or a field whose resolver may read any member
    if (member === undefined) {
      const relation = relations.find((relation) => relation.field.name.value === name);
      if (relation && !relation.isList) members.add(relation.member);
      return relation !== undefined;
    }
    const inner = getNamedType(field?.type);
    if (!isObjectType(inner)) {
      members.add(prefix + member);
      return true;
    }
    const within = { type: inner, prefix: `${prefix}${member}.`, relations: [], fragments };
    return addMembers(members, [node], within) && addAny(members, within);
  });
}

/** Makes sure that an object is read at all, even if nothing but its `__typename` is selected. */
function addAny(members: Set<string>, { type, prefix }: Place): boolean {
  if ([...members].some((member) => member.startsWith(prefix))) return true;
  const first = Object.values(type.getFields()).find((field) => isLeafType(getNamedType(field.type)));
  if (first) members.add(prefix + first.name);
  return first !== undefined;
}
