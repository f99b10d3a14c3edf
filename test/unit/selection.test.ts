import { type GraphQLResolveInfo, Kind, parse } from 'graphql';
import { selects } from '../../src/operations/selection';

/** The info of the only root field's resolver. */
function infoOf(text: string): GraphQLResolveInfo {
  const { definitions } = parse(text);
  const operation = definitions.find((node) => node.kind === Kind.OPERATION_DEFINITION)!;
  const named = definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION);
  const fragments = Object.fromEntries(named.map((node) => [node.name.value, node]));
  return { fieldNodes: operation.selectionSet.selections, fragments } as unknown as GraphQLResolveInfo;
}

test.each<[boolean, string, string]>([
  [true, 'data.lines', '{ a { data { lines { id } } } }'],
  [false, 'data.lines', '{ a { data { id } lines { id } } }'],
  [true, 'lines', '{ a { ... { ... on Quote { lines { id } } } } }'],
  [true, 'data.lines', '{ a { ...F } } fragment F on A { data { ...G } } fragment G on A { lines { id } }'],
  [true, 'data.lines', '{ a { data { id } ...F } } fragment F on A { data { id } data { lines { id } } }'],
  [true, 'data.data', '{ a { ...F } } fragment F on A { data { ...F } }'],
  [false, 'data.lines', '{ a { ...F ...F } } fragment F on A { data { ...F } }'],
  [false, 'lines', '{ a { ...Missing } }'],
])('%s: that %s is selected in %s', (expected, path, text) => {
  expect(selects(infoOf(text), ...path.split('.'))).toBe(expected);
});
