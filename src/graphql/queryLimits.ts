import {
  type ASTVisitor,
  type DocumentNode,
  type ExecutableDefinitionNode,
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionNode,
  type ValidationContext,
} from 'graphql';
import { fieldsIn } from '../operations/selection';
import { fragmentsOf, measure, mostRepeated, type Size } from './documentSize';

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

/** Maximum number of faults listed for a document. */
const MAX_FAULTS = 10;
/** Above this a fault says `over` it: fragments within fragments multiply to numbers that nobody reads. */
const MAX_WRITTEN = 1_000_000_000;

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
