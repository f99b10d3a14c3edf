import {
  type FragmentDefinitionNode,
  type GraphQLResolveInfo,
  Kind,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { selects } from '../../src/operations/selection';

/** The info of the only root field's resolver, and how often a fragment is looked up in it. */
function infoOf(text: string): { info: GraphQLResolveInfo; lookUps: () => number } {
  const { definitions } = parse(text);
  const operation = definitions.find(
    (node): node is OperationDefinitionNode => node.kind === Kind.OPERATION_DEFINITION,
  )!;
  const named = definitions.filter((node): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION);
  let lookUps = 0;
  const fragments = new Proxy(Object.fromEntries(named.map((node) => [node.name.value, node])), {
    get: (all, name: string) => {
      lookUps += 1;
      return all[name];
    },
  });
  const info = { fieldNodes: operation.selectionSet.selections, fragments } as unknown as GraphQLResolveInfo;
  return { info, lookUps: () => lookUps };
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
  expect(selects(infoOf(text).info, ...path.split('.'))).toBe(expected);
});

test('each fragment is visited once per step of the path, however often it is spread', () => {
  const name = (at: number): string => `F${String(at)}`;
  const fragments = Array.from(
    { length: 20 },
    (_, at) => `fragment ${name(at)} on A { ...${name(at + 1)} data { ...${name(at + 1)} } ...${name(at + 1)} }`,
  );
  const { info, lookUps } = infoOf(`{ a { ...F0 } } ${fragments.join(' ')} fragment F20 on A { id }`);
  expect(selects(info, 'data', 'lines')).toBe(false);
  // three spreads in each of 20 fragments, visited for at most two steps
  expect(lookUps()).toBeLessThanOrEqual(3 * 20 * 2 + 1);
});
