import { type FieldNode, type GraphQLResolveInfo, parse } from 'graphql';
import { publishedSchemas } from '../../src/gateway/schemas';
import { published } from '../../src/schema/model';
import { projectionOfObject } from '../../src/stored/projections';

/* What is kept of an operation: its variables decide, by @include, what is selected where, so that there is no end of selections. */

const document = parse('{ quote(id: "1") { id } }');
const [operation] = document.definitions;
const quote = { stored: published.stored.get('Quote')! };
const members = ['number', 'status', 'currency', 'total_minor', 'sent_at', 'valid_until', 'external_ref'];

/** The projection of a selection, given by the bits of a number. */
function projectionOf(bits: number): unknown {
  const selected = members.filter((_name, at) => (bits >> at) % 2 === 1);
  const { definitions } = parse(`{ quote(id: "1") { id ${selected.join(' ')} } }`);
  const [node] = (definitions[0] as { selectionSet: { selections: readonly FieldNode[] } }).selectionSet.selections;
  const info = { schema: publishedSchemas().graphql, operation, fragments: {}, fieldNodes: [node] };
  return projectionOfObject(quote, info as unknown as GraphQLResolveInfo);
}

test('one selection has one projection, and of many only some are kept', () => {
  expect(projectionOf(1)).toBe(projectionOf(1));
  const first = projectionOf(1);
  for (let bits = 2; bits < 100; bits += 1) projectionOf(bits);
  expect(projectionOf(1)).not.toBe(first);
  expect(projectionOf(1)).toEqual(first);
});
