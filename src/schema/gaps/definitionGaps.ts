import { type DocumentNode, type GraphQLSchema, Kind, OperationTypeNode } from 'graphql';
import { scalars } from '../scalars';
import { rootFieldNodes } from '../sdl';

/* Finds types and operations whose definitions the server does not go by. */

/** One message per gap, with what to change where. */
export function definitionGaps(document: DocumentNode, schema: GraphQLSchema): string[] {
  return [
    ...rootGaps(schema),
    ...repeatedNames(document),
    ...document.definitions.flatMap((node) =>
      node.kind === Kind.SCALAR_TYPE_DEFINITION && !Object.hasOwn(scalars, node.name.value)
        ? [`the scalar ${node.name.value} has no implementation: add one to src/schema/scalars.ts, or remove it`]
        : [],
    ),
    ...Object.keys(schema.getTypeMap()).flatMap(nameGaps),
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
  return use === undefined ? [] : [`${type} has the name of the type of ${use}: rename it`];
}
