import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutableDefinitionNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  type ValidationContext,
} from 'graphql';
import { fieldsIn } from '../operations/selection';

/** Limits of a GraphQL request (contract, section 6); docs/decisions/query-cost.md explains why they are checked first. */
export const QUERY_LIMITS = {
  /** Nested fields, not counting introspection. */
  depth: 10,
  aliases: 30,
  /** Aliases of introspection and inside it: each repeats a walk of the whole schema, which takes some 5 ms and never yields. */
  introspectionAliases: 5,
  rootFields: 20,
  /** Fields at all levels, after fragment expansion. */
  fields: 5000,
  /** Fragment spreads after expansion, including inline ones. Limited separately, since fragments that contain only fragments have no fields. */
  spreads: 10_000,
  /** Fragments inside each other, through fields too: validation compares each with all inside it. */
  nesting: 10,
  /** How often one object is selected in one place of the answer. */
  repeats: 100,
  /** Fields and spreads of a subscription after fragment expansion, since it is executed for every event. */
  subscription: 100,
  tokens: 2000,
  /** Lines of query text, because graphql-js counts them from the start to locate each error. */
  lines: 2000,
  bytes: 100 * 1024,
  /** Rows that an operation can return in the worst case. */
  rows: 20_000,
} as const;

interface Size {
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

/** Maximum number of faults listed for a document. */
const MAX_FAULTS = 10;
/** Above this a fault says `over` it: fragments within fragments multiply to numbers that nobody reads. */
const MAX_WRITTEN = 1_000_000_000;

const NOTHING: Size = {
  depth: 0,
  aliases: 0,
  introspectionAliases: 0,
  rootFields: 0,
  fields: 0,
  spreads: 0,
  nesting: 0,
};

/**
 * A validation rule that rejects documents over the limits. Linear in the document, since each fragment is measured once.
 * It checks the whole document before the other rules visit its definitions, and hides rejected documents from them,
 * because they and all later code may walk every fragment spread.
 */
export function queryLimitsRule(context: ValidationContext): ASTVisitor {
  return {
    Document(document) {
      const faults = faultsOf(document);
      if (faults.length === 0) return undefined;
      for (const fault of faults) context.reportError(fault);
      // the visitor continues with the returned document, which is empty
      return { ...document, definitions: [] };
    },
  };
}

function faultsOf(document: DocumentNode): GraphQLError[] {
  const lines = document.loc ? countLines(document.loc.source.body) : 0;
  if (lines > QUERY_LIMITS.lines) {
    return [new GraphQLError(`The query text ${tooMany('has too many lines:', lines, QUERY_LIMITS.lines)}`)];
  }
  const { sizeOf, cyclic } = measure(document);
  const operations = document.definitions.filter((node) => node.kind === Kind.OPERATION_DEFINITION);
  // fragments are also checked on their own: other rules walk an unused fragment before one of them rejects it
  const fragments = document.definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const all = [...operations, ...fragments];
  // finds all cycles
  all.forEach(sizeOf);
  const ofSize = (node: ExecutableDefinitionNode): GraphQLError[] => faultsOfSize(node, sizeOf(node));
  const steps: readonly (() => GraphQLError[])[] = [
    () => firstFaults([...cyclic], faultsOfCycle),
    () => firstFaults(operations, ofSize),
    () => firstFaults(fragments, ofSize),
    () => firstFaults(all, (node) => faultsOfNesting(node, sizeOf(node))),
  ];
  for (const step of steps) {
    const errors = step();
    if (errors.length > 0) return errors;
  }
  const fragmentsByName = fragmentsOf(document);
  const ofSubscriptions = firstFaults(operations, (node) => faultsOfSubscription(node, sizeOf(node), fragmentsByName));
  const ofRepeats = firstFaults(all, (node) => faultsOfRepeats(node, fragmentsByName));
  return [...ofSubscriptions, ...ofRepeats].slice(0, MAX_FAULTS);
}

/** At most MAX_FAULTS: making an error, with its line and its stack, takes longer than measuring a node. */
function firstFaults<T>(nodes: readonly T[], faultsOfNode: (node: T) => readonly GraphQLError[]): GraphQLError[] {
  const errors: GraphQLError[] = [];
  for (const node of nodes) {
    errors.push(...faultsOfNode(node));
    if (errors.length >= MAX_FAULTS) return errors.slice(0, MAX_FAULTS);
  }
  return errors;
}

function faultsOfCycle(nodes: FragmentDefinitionNode): GraphQLError[] {
  return [new GraphQLError(`Cannot spread fragment "${nodes.name.value}" within itself.`, { nodes })];
}

function faultsOfNesting(node: ExecutableDefinitionNode, { nesting }: Size): GraphQLError[] {
  return refuse(node, 'nests fragments to a depth of', nesting, QUERY_LIMITS.nesting);
}

/**
 * The faults of a subscription: too many fields, and `@skip` or `@include` at its root, which the specification forbids. graphql-js's own
 * rule for that needs the values of variables, which no validation has, and throws.
 */
function faultsOfSubscription(
  node: OperationDefinitionNode,
  { fields, spreads }: Size,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
): GraphQLError[] {
  if (node.operation !== OperationTypeNode.SUBSCRIPTION) return [];
  const what = 'has too many fields and fragment spreads for a subscription, which is executed for every event:';
  const faults = refuse(node, what, fields + spreads, QUERY_LIMITS.subscription);
  const refuseConditions = (nodes: SelectionNode): boolean => {
    if (nodes.directives?.some(({ name }) => name.value === 'skip' || name.value === 'include'))
      faults.push(new GraphQLError('A subscription must not have @skip or @include at its root.', { nodes }));
    return false;
  };
  fieldsIn([node], (name) => fragments.get(name), refuseConditions);
  return faults;
}

function faultsOfSize(node: ExecutableDefinitionNode, size: Size): GraphQLError[] {
  const { depth, aliases, introspectionAliases, rootFields, fields, spreads } = size;
  const ofAnswer = (): GraphQLError[][] => [
    refuse(node, 'has a depth of', depth, QUERY_LIMITS.depth),
    refuse(node, 'has too many aliases:', aliases, QUERY_LIMITS.aliases),
    refuse(node, 'has too many aliases in introspection:', introspectionAliases, QUERY_LIMITS.introspectionAliases),
    refuse(node, 'has too many root fields:', rootFields, QUERY_LIMITS.rootFields),
  ];
  return [
    ...(node.kind === Kind.OPERATION_DEFINITION ? ofAnswer() : []),
    refuse(node, 'has too many fields after its fragments are expanded:', fields, QUERY_LIMITS.fields),
    refuse(node, 'has too many fragment spreads, including those inside fragments:', spreads, QUERY_LIMITS.spreads),
  ].flat();
}

function faultsOfRepeats(
  node: ExecutableDefinitionNode,
  fragments: Map<string, FragmentDefinitionNode>,
): GraphQLError[] {
  const repeats = mostRepeated([node], fragments);
  return refuse(node, 'selects one object too many times in one place:', repeats, QUERY_LIMITS.repeats);
}

/**
 * How often nodes select the same field (with subfields) in one place of the answer. Validation compares all of them and their contents
 * with each other; leaf fields take a fraction of that and are not counted. Walks every fragment spread, once per place, so the document
 * must be within the other limits.
 */
function mostRepeated(
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

function refuse(nodes: ExecutableDefinitionNode, what: string, count: number, limit: number): GraphQLError[] {
  const name = nodes.kind === Kind.OPERATION_DEFINITION ? 'operation' : `fragment "${nodes.name.value}"`;
  return count > limit ? [new GraphQLError(`The ${name} ${tooMany(what, count, limit)}`, { nodes })] : [];
}

function tooMany(what: string, count: number, limit: number): string {
  const written = count > MAX_WRITTEN ? `over ${MAX_WRITTEN.toLocaleString('en')}` : count.toLocaleString('en');
  return `${what} ${written}; the limit is ${limit.toLocaleString('en')}.`;
}

function countLines(text: string): number {
  return 1 + (text.match(/\r\n|[\n\r]/g)?.length ?? 0);
}

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

function measure(document: DocumentNode): Measure {
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
 * A validation rule that rejects aliases that begin with two underscores, which GraphQL reserves, so that no answer has a member `__proto__`.
 */
export function reservedAliasesRule(context: ValidationContext): ASTVisitor {
  return {
    Field({ alias }) {
      if (!alias?.value.startsWith('__')) return;
      const message = `The alias "${alias.value}" must not begin with "__", which is reserved for introspection.`;
      context.reportError(new GraphQLError(message, { nodes: alias }));
    },
  };
}
