import { generateKey } from '../../src/auth/keys';
import { raw } from './http/raw';
import { eventually } from './http/eventually';
import { client } from '../support/client';
import { callerOf } from '../support/factories';
import { late, served } from '../support/gateway';
import { CALLS, argumentsOf } from '../support/operations';
import { IDS } from '../support/fixtures/contract';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const gateway = served();
const caller = late(() => callerOf(gateway));

const SANE = ['a', 'req-1', '01JB3Z6V8Y', '7f3c1a52-6f0e-4f3c-9b0a-0d9a6f6f2b11', 'a.b:c=d+e/f@g_h', 'x'.repeat(128)];
const INSANE = [
  ['an empty id', ''],
  ['an id of 129 characters', 'x'.repeat(129)],
  ['an id with a space', 'spaced out id'],
  ['markup', '<b>markup</b>'],
  ['quotes', 'quo"ted'],
  ['bytes above ASCII', 'café-café'],
  ['an API key', generateKey('svc_live_', '').key],
] as const;

const PATHS = ['/api/v1/me', '/api/v1/nothing', '/graphql?query={', '/livez', '/', '/nothing'];

describe("a caller's own X-Request-Id", () => {
  test.each(SANE)('%s is kept', async (id) => {
    for (const path of PATHS) {
      const { headers } = await raw(gateway.url, path, { headers: { 'x-request-id': id } });
      expect({ path, id: headers['x-request-id'] }).toEqual({ path, id });
    }
  });

  test.each(INSANE)('%s is replaced by a UUID', async (_title, id) => {
    for (const path of PATHS) {
      const { headers, text } = await raw(gateway.url, path, { headers: { 'x-request-id': id } });
      expect(headers['x-request-id']).toMatch(UUID);
      if (id !== '') expect(text).not.toContain(id);
    }
  });

  test('is generated if missing, and unique', async () => {
    const ids = await Promise.all([1, 2, 3].map(async () => (await caller.get('/me')).headers.get('x-request-id')));
    for (const id of ids) expect(id).toMatch(UUID);
    expect(new Set(ids).size).toBe(3);
  });
});

/** A read and a write in each API, whose errors are made alike for all operations. */
const FAILING = CALLS.filter(({ operation: { name } }) => ['quote', 'update_product'].includes(name));

test.each(FAILING)(
  'the request id of an error of $operation.name over $face.name is in its body, header and log line',
  async ({ operation, face }) => {
    const id = `${operation.name}-${face.name}`;
    const answer = await face.call(client(gateway), operation, argumentsOf(operation, IDS), { 'x-request-id': id });
    expect(answer.headers.get('x-request-id')).toBe(id);
    expect(face.errorOf(answer).request_id).toBe(id);
    const line = await eventually(() => gateway.logs.find((log) => log.request_id === id));
    expect(line).toMatchObject({ status: 401, code: 'unauthenticated' });
  },
);
