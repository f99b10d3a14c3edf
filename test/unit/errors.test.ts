import { GraphQLError } from 'graphql';
import mongoose from 'mongoose';
import { AppError, ERROR_CODES, type ErrorCode, findAppError, RETRIES, type Retry } from '../../src/errors';
import { refuseFaults } from '../../src/stored/elementCalls';
import { isWriteConflict } from '../../src/mongo/faults';
import { toAppError } from '../../src/mongo/toAppError';
import { errorHeaders } from '../../src/http/problem';
import { read } from '../docs/markdown';

const known = new AppError('conflict', 'Again.');

function wrapped(error: Error, times: number): Error {
  return times === 0 ? error : wrapped(new Error('wrapped', { cause: error }), times - 1);
}

describe('the error meant for the caller', () => {
  test.each<[string, unknown]>([
    ['the error itself', known],
    ['the cause of another', new Error('x', { cause: known })],
    ['the original error of a GraphQL error', new GraphQLError('x', { originalError: known })],
    ['the cause of the original error', new GraphQLError('x', { originalError: new Error('y', { cause: known }) })],
    ['seven errors deep', wrapped(known, 7)],
  ])('is found as %s', (_title, error) => {
    expect(findAppError(error)).toBe(known);
    expect(toAppError(error)).toBe(known);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a string', 'not_found'],
    ['an object that looks like an error', { code: 'not_found', status: 404, detail: 'x' }],
    ['another error', new Error('x')],
    ['a GraphQL error with its own code', new GraphQLError('x', { extensions: { code: 'not_found' } })],
  ])('is not found in %s, which is masked', (_title, error) => {
    expect(findAppError(error)).toBeUndefined();
    const { code, status, detail, extras } = toAppError(error);
    expect({ code, status, extras }).toEqual({ code: 'internal', status: 500, extras: {} });
    expect(detail).not.toContain('x');
  });

  test('is not searched for endlessly', () => {
    const loop = new Error('loop');
    loop.cause = loop;
    expect(findAppError(loop)).toBeUndefined();
    expect(toAppError(loop).code).toBe('internal');
  });
});

const { MongoBulkWriteError, MongoNetworkError, MongoServerSelectionError, MongoServerError } = mongoose.mongo;

function serverError(code: number, errorLabels: string[] = [], message = '10.0.0.1'): Error {
  return new MongoServerError({ message, code, errorLabels });
}

describe('a database failure', () => {
  const lost = new MongoNetworkError('connection 5 to 10.0.0.1 closed');
  lost.addErrorLabel('TransientTransactionError');
  test.each([
    ['no server', new MongoServerSelectionError('10.0.0.1 refused', {} as never)],
    ['no network', new MongoNetworkError('connect ECONNREFUSED 10.0.0.1')],
    ['a connection lost in a bulk write', new MongoBulkWriteError(lost, {} as never)],
    ['a connection lost during a write to it', Object.assign(new Error('10.0.0.1 ended'), { code: 'EPIPE' })],
    ['no time left', serverError(50)],
    ['a server that shuts down', serverError(91)],
    ['a server interrupted in a transaction', serverError(11600, ['TransientTransactionError'])],
    ['a primary that stepped down', serverError(189)],
    ['no primary', serverError(10107)],
    ['a cursor that a new primary does not have', serverError(43)],
    ['a cursor that was killed', serverError(237)],
    ['no disk space', serverError(14031)],
    ['an overloaded server', serverError(462, ['SystemOverloadedError'])],
    ['a storage engine failure', serverError(1, [], 'WiredTiger error: WT_PANIC: WiredTiger library panic')],
  ])('is 503 unavailable with Retry-After and without details: %s', (_title, error) => {
    for (const thrown of [error, new GraphQLError('x', { originalError: error })]) {
      const shown = toAppError(thrown);
      expect(shown).toMatchObject({ code: 'unavailable', status: 503, extras: { retryAfter: expect.any(Number) } });
      expect(shown.detail).not.toContain('10.0.0.1');
    }
  });
});

test('a read that takes too long is a 503 that says so', () => {
  const shown = toAppError(new Error('wrapped', { cause: serverError(50) }));
  expect(shown).toMatchObject({ code: 'unavailable', status: 503, detail: expect.stringContaining('took too long') });
});

test.each([
  ['TransactionTooLarge', serverError(257)],
  ['TransactionTooLargeForCache', serverError(388)],
  ['one that may be transient', serverError(388, ['TransientTransactionError'])],
])('a transaction that is too large is a 413 that says what to do: %s', (_name, error) => {
  const shown = toAppError(error);
  expect(shown).toMatchObject({ code: 'payload_too_large', status: 413 });
  expect(shown.detail).toMatch(/nothing was stored\. Send fewer elements/);
  // it would be too large again
  expect(isWriteConflict(error)).toBe(false);
});

test('a transaction that conflicts with others is a 409 conflict', () => {
  expect(toAppError(serverError(112, ['TransientTransactionError']))).toMatchObject({ code: 'conflict', status: 409 });
});

test.each([
  ['a command the server does not understand', serverError(9)],
  ['a command it is not authorised for', serverError(13)],
  ['a write it rejected', new MongoBulkWriteError({ message: 'x', code: 121 }, {} as never)],
])('%s is a 500 without Retry-After', (_title, error) => {
  expect(toAppError(error)).toMatchObject({ code: 'internal', status: 500, extras: {} });
});

describe('advice on retrying', () => {
  const codes = Object.keys(ERROR_CODES) as ErrorCode[];
  const codesOf = (retry: Retry) => codes.filter((code) => ERROR_CODES[code].retry === retry);

  test('is the same in the guide', () => {
    const others: Partial<Record<Retry, string>> = { keyed: 'no answer, a broken connection' };
    const rows = (Object.keys(RETRIES) as Retry[]).map((retry) => {
      const named = codesOf(retry).map((code) => `${String(ERROR_CODES[code].status)} \`${code}\``);
      const got = retry === 'no' ? ['any other error'] : [...named, ...(others[retry] ? [others[retry]] : [])];
      return `| ${got.join(', ')} | ${RETRIES[retry]} |`;
    });
    const [, table = ''] =
      /\| you got \| do \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(read('docs/guides/integrators.md')) ?? [];
    expect(table.trim().split('\n')).toEqual(rows);
  });

  test('comes with Retry-After for every 429 and 503', () => {
    const waiting = codes.filter((code) => [429, 503].includes(ERROR_CODES[code].status));
    expect(codesOf('after')).toEqual(expect.arrayContaining(waiting));
    for (const code of codesOf('after')) {
      expect(Number(errorHeaders(new AppError(code, 'x', { reason: 'away' }))['Retry-After'])).toBeGreaterThan(0);
      expect(errorHeaders(new AppError(code, 'x', { reason: 'away', retryAfter: 7 }))).toEqual({ 'Retry-After': '7' });
    }
  });
});

test('an atomic call is a 500 only if every fault is a failed rule, also of those that are not listed', () => {
  const stepOf = (code: 'rule' | 'length') => {
    return { checked: { faults: [{ pointer: '', code, detail: 'x' }], count: 1, isTruncated: false } };
  };
  const rules = Array<ReturnType<typeof stepOf>>(150).fill(stepOf('rule'));
  const refusing = (steps: typeof rules) => (): void => {
    refuseFaults(steps);
  };
  expect(refusing(rules)).toThrow(expect.objectContaining({ code: 'internal' }));
  expect(refusing([...rules, stepOf('length')])).toThrow(
    expect.objectContaining({ code: 'validation_failed', extras: expect.objectContaining({ moreErrors: 51 }) }),
  );
});
