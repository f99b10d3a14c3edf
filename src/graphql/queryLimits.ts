import {
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';

/** Limits of a GraphQL request (contract, section 6). */
export const QUERY_LIMITS = {
  /** Nested fields, introspection aside. */
  depth: 10,
  aliases: 30,
  rootFields: 20,
  tokens: 2000,
  /** Bytes of query text. */
  bytes: 100 * 1024,
} as const;

interface Size {
  readonly depth: number;
  readonly aliases: number;
  /** Fields at this level, fragments included. */
  readonly fields: number;
}

type SizeOf = (set: SelectionSetNode | undefined) => Size;

const NOTHING: Size = { depth: 0, aliases: 0, fields: 0 };

/** A validation rule that refuses operations over the limits. Linear in the document: each fragment is measured once. */
export function queryLimitsRule(context: ValidationContext): ASTVisitor {
  const sizeOf = measure(context.getDocument());
  return {
    OperationDefinition(operation) {
      const { depth, aliases, fields } = sizeOf(operation.selectionSet);
      const refuse = (what: string, found: number, limit: number): void => {
        if (found <= limit) return;
        context.reportError(
          new GraphQLError(`The operation has ${what} ${String(found)}; the limit is ${String(limit)}.`, {
            nodes: operation,
          }),
        );
      };
      refuse('a depth of', depth, QUERY_LIMITS.depth);
      refuse('this many aliases:', aliases, QUERY_LIMITS.aliases);
      refuse('this many root fields:', fields, QUERY_LIMITS.rootFields);
    },
  };
}

/** Root fields of an operation, fragments included: what the request costs. */
export function countRootFields(document: DocumentNode, operation: OperationDefinitionNode): number {
  return measure(document)(operation.selectionSet).fields;
}

/** Whether an operation asks for nothing but the schema. */
export function isIntrospection(document: DocumentNode, operation: OperationDefinitionNode): boolean {
  const fragments = fragmentsOf(document);
  const visited = new Set<string>();
  const only = (set: SelectionSetNode): boolean =>
    set.selections.every((selection) => {
      if (selection.kind === Kind.FIELD) return selection.name.value.startsWith('__');
      if (selection.kind === Kind.INLINE_FRAGMENT) return only(selection.selectionSet);
      const { value: name } = selection.name;
      const fragment = fragments.get(name);
      if (!fragment || visited.has(name)) return true;
      visited.add(name);
      return only(fragment.selectionSet);
    });
  return operation.operation === OperationTypeNode.QUERY && only(operation.selectionSet);
}

function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  const definitions = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(definitions.map((node) => [node.name.value, node]));
}

function measure(document: DocumentNode): SizeOf {
  const fragments = fragmentsOf(document);
  const known = new Map<string, Size>();
  const sizeOfFragment = (name: string): Size => {
    const found = known.get(name);
    if (found) return found;
    // stands while the fragment itself is measured, so that a cycle ends here; another rule refuses it
    known.set(name, NOTHING);
    const size = sizeOf(fragments.get(name)?.selectionSet);
    known.set(name, size);
    return size;
  };
  const sizeOf: SizeOf = (set) => {
    let [depth, aliases, fields] = [0, 0, 0];
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD) {
        const inner = sizeOf(selection.selectionSet);
        const isIntrospectionField = selection.name.value.startsWith('__');
        depth = Math.max(depth, isIntrospectionField ? 0 : inner.depth + 1);
        aliases += inner.aliases + (selection.alias ? 1 : 0);
        fields += 1;
      } else {
        const inner =
          selection.kind === Kind.INLINE_FRAGMENT
            ? sizeOf(selection.selectionSet)
            : sizeOfFragment(selection.name.value);
        depth = Math.max(depth, inner.depth);
        aliases += inner.aliases;
        fields += inner.fields;
      }
    }
    return { depth, aliases, fields };
  };
  return sizeOf;
}
