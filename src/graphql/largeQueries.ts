import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Operation } from '../schema';

/** Whether a document, which is valid, asks for much: totals, or lists inside lists. */
export type IsLarge = (document: DocumentNode) => boolean;

/** Lists inside each other below a selection; a total counts as two. */
type ListsIn = (set: SelectionSetNode | undefined, type: GraphQLNamedType | undefined) => number;

const LARGE = 2;

/**
 * Judges by shape: a list has a `limit`, and a query that REST does not have is one of totals. Each fragment is looked at
 * once, and each document: it comes again as the same object.
 */
export function largeQueries(schema: GraphQLSchema, operations: readonly Operation[]): IsLarge {
  const totals = new Set(
    operations
      .filter(({ kind, rest, role }) => kind === 'Query' && !rest && role === undefined)
      .map(({ name }) => name),
  );
  const known = new WeakMap<DocumentNode, boolean>();

  function isLarge(document: DocumentNode): boolean {
    const listsIn = counter(document, schema, (type, field) => type === schema.getQueryType() && totals.has(field));
    return document.definitions.some(
      (node) =>
        node.kind === Kind.OPERATION_DEFINITION &&
        listsIn(node.selectionSet, schema.getRootType(node.operation) ?? undefined) >= LARGE,
    );
  }

  return (document) => {
    const found = known.get(document) ?? isLarge(document);
    known.set(document, found);
    return found;
  };
}

function counter(
  document: DocumentNode,
  schema: GraphQLSchema,
  isTotal: (type: GraphQLNamedType, field: string) => boolean,
): ListsIn {
  const inFragments = new Map<string, number>();

  function listsOfFragment(name: string): number {
    const found = inFragments.get(name);
    if (found !== undefined) return found;
    // stands while the fragment itself is looked at; a cycle is refused elsewhere
    inFragments.set(name, 0);
    const node = document.definitions.find((one) => one.kind === Kind.FRAGMENT_DEFINITION && one.name.value === name);
    const lists =
      node?.kind === Kind.FRAGMENT_DEFINITION
        ? listsIn(node.selectionSet, schema.getType(node.typeCondition.name.value))
        : 0;
    inFragments.set(name, lists);
    return lists;
  }

  const listsIn: ListsIn = (set, type) => {
    let most = 0;
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FRAGMENT_SPREAD) most = Math.max(most, listsOfFragment(selection.name.value));
      else if (selection.kind === Kind.INLINE_FRAGMENT) {
        const { typeCondition } = selection;
        const inner = typeCondition ? schema.getType(typeCondition.name.value) : type;
        most = Math.max(most, listsIn(selection.selectionSet, inner));
      } else if (isObjectType(type)) {
        const field = type.getFields()[selection.name.value];
        if (!field) continue;
        const own = isTotal(type, field.name) ? LARGE : field.args.some(({ name }) => name === 'limit') ? 1 : 0;
        most = Math.max(most, own + listsIn(selection.selectionSet, getNamedType(field.type)));
      }
    }
    return most;
  };
  return listsIn;
}
