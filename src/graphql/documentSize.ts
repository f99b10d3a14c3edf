import {
  type DocumentNode,
  type ExecutableDefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
} from 'graphql';
import { fieldsIn } from '../operations/selection';

/* How large a GraphQL document is once its fragments are expanded, in time linear in the document (docs/decisions/query-cost.md). */

export interface Size {
  readonly depth: number;
  readonly aliases: number;
  /** Those of introspection and inside it. */
  readonly introspectionAliases: number;
  /** Fields at this level, fragments included. */
  readonly rootFields: number;
  /** Fields and fragment spreads at this level and below; Infinity beyond 2^1023, which is over any limit. */
  readonly fields: number;
  readonly spreads: number;
  /** Named fragments inside each other. */
  readonly nesting: number;
}

interface Measure {
  readonly sizeOf: (definition: ExecutableDefinitionNode) => Size;
  /** Fragments found so far that contain themselves. */
  readonly cyclic: ReadonlySet<FragmentDefinitionNode>;
}

const NOTHING: Size = {
  depth: 0,
  aliases: 0,
  introspectionAliases: 0,
  rootFields: 0,
  fields: 0,
  spreads: 0,
  nesting: 0,
};

/** Root fields of an operation, including those in fragments; each costs a point. */
export function countRootFields(document: DocumentNode, operation: OperationDefinitionNode): number {
  return measure(document).sizeOf(operation).rootFields;
}

/** Fields of an operation at all levels, including those in fragments. */
export function countFields(document: DocumentNode, operation: OperationDefinitionNode): number {
  return measure(document).sizeOf(operation).fields;
}

/** The root fields that an operation selects, including those in fragments. */
export function rootFieldsOf(document: DocumentNode, operation: OperationDefinitionNode): FieldNode[] {
  const fragments = fragmentsOf(document);
  return fieldsIn([operation], (name) => fragments.get(name));
}

export function fragmentsOf(document: DocumentNode): Map<string, FragmentDefinitionNode> {
  const definitions = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  return new Map(definitions.map((node) => [node.name.value, node]));
}

/** Measures a document: each fragment once, whose numbers count wherever it is spread. */
export function measure(document: DocumentNode): Measure {
  const fragments = fragmentsOf(document);
  const sizes = new Map<string, Size>();
  const cyclic = new Set<FragmentDefinitionNode>();
  const beingMeasured = new Set<string>();

  /** Whether a node is the fragment that its name resolves to; two may have the same name. */
  function isNamed(node: ExecutableDefinitionNode): node is FragmentDefinitionNode {
    return node.kind === Kind.FRAGMENT_DEFINITION && fragments.get(node.name.value) === node;
  }

  function sizeOfFragment(name: string): Size {
    const knownSize = sizes.get(name);
    if (knownSize) return knownSize;
    const fragment = fragments.get(name);
    // another rule reports the missing fragment
    if (!fragment) return NOTHING;
    if (beingMeasured.has(name)) {
      cyclic.add(fragment);
      return NOTHING;
    }
    beingMeasured.add(name);
    const size = sizeOfSet(fragment.selectionSet);
    beingMeasured.delete(name);
    sizes.set(name, size);
    return size;
  }

  function sizeOfSet(set: SelectionSetNode | undefined): Size {
    let [depth, aliases, introspectionAliases, rootFields, fields, spreads, nesting] = [0, 0, 0, 0, 0, 0, 0];
    for (const selection of set?.selections ?? []) {
      const isField = selection.kind === Kind.FIELD;
      const inner =
        selection.kind === Kind.FRAGMENT_SPREAD
          ? sizeOfFragment(selection.name.value)
          : sizeOfSet(selection.selectionSet);
      const isIntrospectionField = isField && selection.name.value.startsWith('__');
      depth = Math.max(depth, isIntrospectionField ? 0 : inner.depth + (isField ? 1 : 0));
      const aliasesHere = inner.aliases + (isField && selection.alias ? 1 : 0);
      aliases += aliasesHere;
      introspectionAliases +=
        isIntrospectionField && selection.name.value !== '__typename' ? aliasesHere : inner.introspectionAliases;
      rootFields += isField ? 1 : inner.rootFields;
      fields += inner.fields + (isField ? 1 : 0);
      spreads += inner.spreads + (isField ? 0 : 1);
      nesting = Math.max(nesting, inner.nesting + (selection.kind === Kind.FRAGMENT_SPREAD ? 1 : 0));
    }
    return { depth, aliases, introspectionAliases, rootFields, fields, spreads, nesting };
  }

  return {
    sizeOf: (node) => (isNamed(node) ? sizeOfFragment(node.name.value) : sizeOfSet(node.selectionSet)),
    cyclic,
  };
}

/**
 * How often nodes select the same field (with subfields) in one place of the answer. Validation compares all of them and their contents
 * with each other; leaf fields take a fraction of that and are not counted. Walks every fragment spread, once per place, so the document
 * must be within the other limits.
 */
export function mostRepeated(
  nodes: readonly (FieldNode | ExecutableDefinitionNode)[],
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): number {
  const places = new Map<string, FieldNode[]>();
  for (const field of fieldsIn(nodes, (name) => fragments.get(name))) {
    if (!field.selectionSet) continue;
    const key = (field.alias ?? field.name).value;
    const place = places.get(key);
    if (place) place.push(field);
    else places.set(key, [field]);
  }
  return Math.max(0, ...[...places.values()].map((place) => Math.max(place.length, mostRepeated(place, fragments))));
}
