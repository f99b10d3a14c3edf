import { GraphQLError } from 'graphql';
import mongoose from 'mongoose';
import { AppError, ERROR_CODES, findAppError, invalidRequest, notFound, validationFailed } from '../../src/errors';
import { toAppError } from '../../src/mask';

const known = new AppError('conflict', 'Again.');

function wrapped(error: Error, times: number): Error {
  return times === 0 ? error : wrapped(new Error('wrapped', { cause: error }), times - 1);
}

describe('the error meant for the caller', () => {
  test.each<[string, unknown]>([
    ['itself', known],
    ['the cause of another', new Error('x', { cause: known })],
    ['the original of a GraphQL error', new GraphQLError('x', { originalError: known })],
    ['deep in both', new GraphQLError('x', { originalError: new Error('y', { cause: known }) })],
    ['seven errors deep', wrapped(known, 7)],
  ])('is found as %s', (_title, error) => {
    expect(findAppError(error)).toBe(known);
    expect(toAppError(error)).toBe(known);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'not_found'],
    ['an object that looks like one', { code: 'not_found', status: 404, detail: 'x' }],
    ['another error', new Error('x')],
    ['a GraphQL error with a code of its own', new GraphQLError('x', { extensions: { code: 'not_found' } })],
  ])('is not found in %s, which is masked', (_title, error) => {
    expect(findAppError(error)).toBeUndefined();
    const { code, status, detail, extras } = toAppError(error);
    expect({ code, status, extras }).toEqual({ code: 'internal', status: 500, extras: {} });
    expect(detail).not.toContain('x');
  });

  test('is not searched for without end', () => {
    const loop = new Error('loop');
    loop.cause = loop;
    expect(findAppError(loop)).toBeUndefined();
    expect(toAppError(loop).code).toBe('internal');
  });
});

describe('a database that does not answer', () => {
  const { MongoNetworkError, MongoServerSelectionError, MongoServerError } = mongoose.mongo;
  test.each([
    ['no server', new MongoServerSelectionError('10.0.0.1 refused', {} as never)],
    ['no network', new MongoNetworkError('connect ECONNREFUSED 10.0.0.1')],
    ['no time left', new MongoServerError({ message: '10.0.0.1', code: 50 })],
  ])('is unavailable, to be asked again, and not named: %s', (_title, error) => {
    for (const thrown of [error, new GraphQLError('x', { originalError: error })]) {
      const shown = toAppError(thrown);
      expect(shown).toMatchObject({ code: 'unavailable', status: 503, extras: { retryAfter: expect.any(Number) } });
      expect(shown.detail).not.toContain('10.0.0.1');
    }
  });
});

describe('an error of the table', () => {
  test.each(Object.entries(ERROR_CODES))('%s has a status, a title and a remedy', (code, { status, title, help }) => {
    const error = new AppError(code as keyof typeof ERROR_CODES, 'x');
    expect(error).toMatchObject({ status, title, code, detail: 'x', message: 'x' });
    expect(status).toBeGreaterThanOrEqual(400);
    expect(title).toMatch(/^[A-Z][a-zA-Z -]+$/);
    expect(help).toMatch(/^[A-Z].{20,}\.$/);
  });

  test.each([
    [[{ parameter: 'limit', code: 'range', detail: 'must be <= 100' }], 'limit: must be <= 100'],
    [[{ pointer: '/text', code: 'required', detail: 'is required' }], '/text: is required'],
    [[{ pointer: '', code: 'json', detail: 'is not valid JSON' }], 'the body: is not valid JSON'],
    [
      [
        { pointer: '/a', code: 'type', detail: 'is bad' },
        { pointer: '/b', code: 'type', detail: 'is worse' },
        { pointer: '/c', code: 'type', detail: 'is worst' },
      ],
      '/a: is bad (and 2 more)',
    ],
  ])('says the first of its faults and how many more there are', (faults, detail) => {
    expect(invalidRequest(faults)).toMatchObject({ status: 400, detail, extras: { errors: faults } });
    expect(validationFailed(faults)).toMatchObject({ status: 422, detail, extras: { errors: faults } });
  });

  test('of an object names its kind, never its id', () => {
    expect(notFound('quote')).toMatchObject({ status: 404, detail: 'There is no such quote.' });
  });
});
