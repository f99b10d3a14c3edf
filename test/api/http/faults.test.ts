import { mongo } from 'mongoose';
import { resourceOf } from '../../../src/resources';
import type { Answer } from '../../support/client';
import { callerOf, makeNorthwind, northwind } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { eventually } from './eventually';

const quotes = resourceOf('quotes');

const [QUOTE] = northwind('quotes') as [{ id: string }];
const LIST = '{ quotes { data { id } } me { key { id } } }';

const gateway = served();
const caller = late(() => callerOf(gateway, makeNorthwind(gateway, 2)));
afterEach(() => jest.restoreAllMocks());

/** A driver error that must not reach callers. */
const SECRET = 'E11000 duplicate key error collection: org_1.quotes at 10.0.0.7:27017';

function failReads(): void {
  // the driver's methods, which every read uses
  for (const read of ['find', 'findOne'] as const) {
    const method = Reflect.get(mongo.Collection.prototype, read) as (...args: unknown[]) => never;
    jest.spyOn(mongo.Collection.prototype, read).mockImplementation(function (this: mongo.Collection, ...args) {
      if (this.collectionName === quotes.name) throw new Error(SECRET);
      return method.apply(this, args);
    });
  }
  // and by fast reads, which do not decode rows
  const command = Reflect.get(mongo.Db.prototype, 'command') as (...args: unknown[]) => Promise<mongo.Document>;
  jest.spyOn(mongo.Db.prototype, 'command').mockImplementation(function (this: mongo.Db, ...args) {
    if (args[0].find === quotes.name) throw new Error(SECRET);
    return command.apply(this, args);
  });
}

function expectMasked({ text }: Answer): void {
  expect(text).not.toMatch(/E11000|org_|10\.0\.0\.7|node_modules|at .*\.ts|Cannot return null|stack/);
}

async function errorsLogged(answer: Answer, message: string): Promise<Record<string, unknown>> {
  const id = answer.headers.get('x-request-id');
  const line = await eventually(() => gateway.logs.find((log) => log.request_id === id && log.msg === message));
  return line.error as Record<string, unknown>;
}

describe('a database failure in an operation', () => {
  test.each(['/quotes', `/quotes/${QUOTE.id}`])(
    'is a masked 500 for GET %s, logged with its request id',
    async (path) => {
      failReads();
      const answer = await caller.get(path);
      expect(answer.status).toBe(500);
      expect(answer.body).toEqual({
        type: '/errors/internal',
        title: 'Internal error',
        status: 500,
        detail: expect.any(String),
        code: 'internal',
        request_id: answer.headers.get('x-request-id'),
      });
      expectMasked(answer);
      expect(await errorsLogged(answer, 'request failed')).toMatchObject({ message: SECRET });
    },
  );

  test('is a masked error next to other data in GraphQL, logged with its request id', async () => {
    failReads();
    const answer = await caller.graphql(LIST);
    expect(answer.status).toBe(200);
    expect(answer.body.data).toEqual({ quotes: null, me: { key: { id: expect.any(String) } } });
    const extensions = { code: 'internal', status: 500, request_id: answer.headers.get('x-request-id') };
    expect(answer.body.errors).toEqual([
      { message: expect.any(String), locations: expect.any(Array), path: ['quotes'], extensions },
    ]);
    expectMasked(answer);
    expect(await errorsLogged(answer, 'resolver failed')).toMatchObject({ message: SECRET });
  });
});
