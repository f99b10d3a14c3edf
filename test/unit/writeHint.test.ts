import { createWriteHint } from '../../src/rest/writeHint';

const operation = (method: string, path: string) => ({ rest: { method, path } });
const LIST = [operation('GET', '/price-lists'), operation('GET', '/price-lists/:id')];

/** The hint for a write to the list. */
const hint = (...others: readonly object[]) =>
  createWriteHint([...LIST, ...others] as never, '/api/v1')(
    { methods: new Map([['GET', LIST[0]]]) } as never,
    { method: 'POST' } as never,
  );

test('the hint names what writes the objects of a list, and calls none read-only that takes files', () => {
  expect(hint()).toBe(' Read-only: no route creates or changes price-lists.');
  expect(hint(operation('POST', '/price-lists/bulk'))).toBe(' Create or update with POST /api/v1/price-lists/bulk.');
  expect(hint(operation('POST', '/price-lists/:id/attachments'))).toBe('');
});
