import { getOperationAST, Kind, parse } from 'graphql';
import { fieldsIn } from '../../src/operations/selection';

/** The names of the fields at a path below the root field, through fragments. */
function namesAt(path: string, text: string): string[] {
  const document = parse(text);
  const fragmentOf = (wanted: string) =>
    document.definitions
      .filter((node) => node.kind === Kind.FRAGMENT_DEFINITION)
      .find(({ name }) => name.value === wanted);
  let nodes = fieldsIn([getOperationAST(document)!], fragmentOf);
  for (const step of path.split('.'))
    nodes = fieldsIn(
      nodes.filter(({ name }) => name.value === step),
      fragmentOf,
    );
  return nodes.map(({ name }) => name.value);
}

test.each<[string, string, string[]]>([
  ['a.data', '{ a { data { lines { id } } } }', ['lines']],
  ['a.data', '{ a { data { id } lines { id } } }', ['id']],
  ['a', '{ a { ... { ... on Quote { lines { id } } } } }', ['lines']],
  ['a.data', '{ a { ...F } } fragment F on A { data { ...G } } fragment G on A { lines { id } }', ['lines']],
  ['a.data', '{ a { data { id } ...F } } fragment F on A { data { id } data { lines { id } } }', ['id', 'id', 'lines']],
  ['a.data', '{ a { ...F } } fragment F on A { data { ...F } }', ['data']],
  ['a', '{ a { ...F ...F } } fragment F on A { ...F data { ...F } }', ['data']],
  ['a', '{ a { ...Missing } }', []],
])('at %s, %s selects %j', (path, text, expected) => {
  expect(namesAt(path, text)).toEqual(expected);
});
