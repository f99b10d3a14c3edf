import { document } from '../support/openapi';
import { checkWith, createAjv, requireSchema } from '../../src/schema/validation';
import { served } from '../support/gateway';
import { raw } from './raw';

/* All problems are written by the same code, so they have the same members and headers wherever they come from. */

const gateway = served();

describe('the Problem schema matches the answer to', () => {
  const ajv = createAjv().addSchema(document, 'openapi');
  const check = checkWith(requireSchema(ajv, 'openapi#/components/schemas/Problem'));

  test.each([
    ['an unknown REST route', '/api/v1/nothing', {}],
    ['an unknown page', '/nothing', {}],
    ['a method that a page does not allow', '/errors', { method: 'POST' }],
    ['an unknown settings path', '/settings/nothing', {}],
    ['headers that are too large', '/livez', { headers: { large: 'x'.repeat(20_000) } }],
    ['an invalid Transfer-Encoding', '/livez', { method: 'POST', headers: { 'transfer-encoding': 'none' } }],
  ])('%s', async (_title, path, init) => {
    const { status, headers, text } = await raw(gateway.url, path, init);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(headers['content-type']).toBe('application/problem+json');
    expect(check(JSON.parse(text))).toEqual({ faults: [], more: 0, isCut: false });
    expect(JSON.parse(text)).toMatchObject({ status, request_id: headers['x-request-id'] });
  });
});
