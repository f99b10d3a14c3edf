import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OpenApiDocument } from '../../src/openapi';
import { operationsOf, scopesOf } from '../../src/reference/document';
import { operationSamples } from '../../src/reference/operation';
import { ROOT } from '../docs/markdown';

test.each(['openapi.json', 'openapi.operator.json'])('each operation of %s has an address of its own', (file) => {
  // that of the operators has an operation with a name of one word, as a folder of your own may
  const document = JSON.parse(readFileSync(join(ROOT, file), 'utf8')) as OpenApiDocument;
  const addresses = operationsOf(document).map(({ href }) => href);
  expect(new Set(addresses).size).toBe(addresses.length);
  for (const address of addresses) expect(address).toMatch(/\/[a-z]+(-[a-z]+)*$/);
});

test('an operation that any key may call needs no scope', () => {
  const scoped = { apiKey: ['quotes:read'] };
  const [operation] = operationsOf({
    paths: { '/quotes': { get: { operationId: 'list_quotes', tags: ['quotes'], security: [scoped, {}] } } },
  } as never);
  expect(scopesOf(operation!)).toEqual([]);
  expect(scopesOf({ ...operation!, security: [scoped] })).toEqual(['quotes:read']);
});

test('a sample has the headers without which its operation is refused', () => {
  const document = JSON.parse(readFileSync(join(ROOT, 'openapi.json'), 'utf8')) as OpenApiDocument;
  const update = operationsOf(document).find(({ href }) => href.endsWith('/products/update'))!;
  /** How often it is named, in each language and in the answers. */
  const named = (required: boolean): number => {
    const parameters = update.parameters.map((one) => (one.name === 'If-Match' ? { ...one, required } : one));
    return operationSamples(document, { ...update, parameters }).text.split('If-Match').length;
  };
  expect(named(true) - named(false)).toBe(3);
});
