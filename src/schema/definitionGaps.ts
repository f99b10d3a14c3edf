import { type DocumentNode, type GraphQLSchema, Kind, OperationTypeNode } from 'graphql';
import type { Resolvers } from './guard';
import { isPageWithAll } from './restDocument';
import { scalars } from './scalars';
import { fieldsOf, pageOf, rootFieldNodes } from './sdl';
import { sentences } from './sentences';

/* Finds types and operations whose definitions the server does not go by. */

/** One message per gap, with what to change where. */
export function definitionGaps(document: DocumentNode, schema: GraphQLSchema, resolvers: Resolvers): string[] {
  return [
    ...rootGaps(schema),
    ...repeatedNames(document),
    ...document.definitions.flatMap((node) =>
      node.kind === Kind.SCALAR_TYPE_DEFINITION && !Object.hasOwn(scalars, node.name.value)
        ? [`the scalar ${node.name.value} has no implementation: add one to src/schema/scalars.ts, or remove it`]
        : [],
    ),
    ...Object.keys(schema.getTypeMap()).flatMap(nameGaps),
    ...pageGaps(document, resolvers),
  ];
}

const ROOTS = [
  [OperationTypeNode.QUERY, 'Query'],
  [OperationTypeNode.MUTATION, 'Mutation'],
  [OperationTypeNode.SUBSCRIPTION, 'Subscription'],
] as const;

/** Operations are found by the names of the root types. */
function rootGaps(schema: GraphQLSchema): string[] {
  return ROOTS.flatMap(([operation, name]) => {
    const root = schema.getRootType(operation)?.name;
    const named = schema.getType(name)?.name;
    return root === named
      ? []
      : [`the root type of ${operation} is ${root ?? 'none'}, not ${name}: remove the schema definition`];
  });
}

/** Keys, metrics, logs and tools know operations by their names only. */
function repeatedNames(document: DocumentNode): string[] {
  const places = new Map<string, string>();
  return rootFieldNodes(document).flatMap(({ kind, field: { name } }) => {
    const [place, other] = [`${kind}.${name.value}`, places.get(name.value)];
    places.set(name.value, place);
    return other === undefined ? [] : [`${place} has the same name as ${other}: rename one of them`];
  });
}

/** Types that are made beside those of the SDL. */
const OWN_TYPES: ReadonlyMap<string, string> = new Map([
  ['Problem', 'errors on REST'],
  ['Fault', 'faults of a request on REST'],
  ['Element', 'elements of bulk calls'],
]);

function nameGaps(type: string): string[] {
  const use = OWN_TYPES.get(type);
  return sentences(
    use !== undefined && `${type} has the name of the type of ${use}: rename it`,
    isPageWithAll(type) && `${type} has a name that pages have on REST: rename it`,
  );
}

const OF_PAGES = ['data', 'has_more', 'next_cursor'];

/** Finds members of pages that lists which follow from the SDL do not have. */
function pageGaps(document: DocumentNode, resolvers: Resolvers): string[] {
  return rootFieldNodes(document).flatMap(({ kind, field }) => {
    const page = pageOf(field);
    // what answers from bytes is such a list
    if (page === undefined || !resolvers[kind]?.[field.name.value]?.writerOf) return [];
    return fieldsOf(document, page)
      .filter(({ name }) => !OF_PAGES.includes(name.value) && !resolvers[page]?.[name.value])
      .map(
        ({ name }) =>
          `${page}.${name.value} is filled by nothing, since ${kind}.${field.name.value} returns ${OF_PAGES.join(', ')}: remove it, or add a resolver of it`,
      );
  });
}
