import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { BODY_LIMIT, BULK_BODY_LIMIT } from '../../../src/http/body';
import { type Answer, type Client, client, type Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';
import { head, openWire } from '../../operations/wire';
import { raw } from './raw';

const JSON_TYPE = { 'content-type': 'application/json' };
const VALID = JSON.stringify({ text: 'Hello' });

const gateway = served();
let caller: Client;
let authorization: string;

beforeAll(async () => {
  const { key } = await makeKey(gateway, await makeOrganisation(gateway));
  [caller, authorization] = [client(gateway, key), `Bearer ${key}`];
});

function post(body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = JSON_TYPE): Promise<Answer> {
  return caller.send('POST', '/requests', { body, headers });
}

describe('a body with Content-Type', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json; charset=utf8',
    'application/json; odata.metadata=minimal; charset=UTF8',
    'Application/JSON',
  ])('%s is accepted', async (type) => {
    expect((await post(VALID, { 'content-type': type })).status).toBe(201);
  });

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=iso-8859-1',
    'application/json; charset=utf-16',
    'application/jsonp',
    'application/json, text/plain',
    'json',
    ';',
  ])('%s gets 415', async (type) => {
    expect((await post(VALID, { 'content-type': type })).body).toMatchObject({ code: 'unsupported_media_type' });
  });

  test('missing gets 415', async () => {
    const headers = { authorization };
    const { status } = await raw(gateway.url, '/api/v1/requests', { method: 'POST', headers, body: VALID });
    expect(status).toBe(415);
  });

  test.each(['gzip', 'deflate', 'br', 'gzip, identity'])('JSON and Content-Encoding %s gets 415', async (encoding) => {
    const { status } = await post(new Uint8Array(gzipSync(VALID)), { ...JSON_TYPE, 'content-encoding': encoding });
    expect(status).toBe(415);
  });

  test('a 415 says what was wrong by the header with what is taken: the encoding, or the type', async () => {
    const [OF_ENCODING, OF_TYPE] = [{ 'content-encoding': 'gzip' }, { 'content-type': 'text/plain' }];
    const id = `/requests/${randomUUID()}`;
    for (const [wrong, path, accept] of [
      [OF_ENCODING, id, ['identity', null, null]],
      [OF_TYPE, id, [null, 'application/json', 'application/json']],
      [OF_TYPE, '/requests', [null, 'application/json', null]],
    ] as const) {
      const headers = { ...JSON_TYPE, ...wrong };
      const answer = await caller.send(path === id ? 'PATCH' : 'POST', path, { body: '{}', headers });
      const said = ['accept-encoding', 'accept', 'accept-patch'].map((name) => answer.headers.get(name));
      expect([answer.status, ...said]).toEqual([415, ...accept]);
    }
    for (const call of [caller.graphql('{ __typename }', {}, OF_TYPE), caller.mcp('ping', {}, OF_TYPE)])
      expect((await call).headers.get('accept')).toBe('application/json');
  });

  test('of another kind gets 415 in GraphQL too', async () => {
    for (const headers of [{ 'content-type': 'text/plain' }, { 'content-encoding': 'gzip' }]) {
      const { status, body } = await caller.graphql('{ __typename }', {}, headers);
      expect(status).toBe(415);
      expect(body.errors[0].extensions).toMatchObject({ code: 'unsupported_media_type', status: 415 });
    }
  });
});

const BULK = JSON.stringify({ products: [{ sku: 'LARGE-1', name: 'Large' }], dry_run: true });
const QUERY = JSON.stringify({ query: '{ __typename }' });

describe.each([
  ['/api/v1/requests', VALID, BODY_LIMIT, 201],
  ['/api/v1/products/bulk', BULK, BULK_BODY_LIMIT, 200],
  ['/graphql', QUERY, BODY_LIMIT, 200],
])('a body for %s', (path, valid, limit, status) => {
  const send = (body: string | Buffer[]) =>
    raw(gateway.url, path, { method: 'POST', headers: { ...JSON_TYPE, authorization }, body });

  test(`of ${String(limit)} bytes is accepted`, async () => {
    expect((await send(valid.padEnd(limit))).status).toBe(status);
    expect((await send(inPieces(valid.padEnd(limit)))).status).toBe(status);
  });

  test.each([1, 3 * limit])('%i bytes over the limit gets 413, with and without Content-Length', async (more) => {
    for (const body of [valid.padEnd(limit + more), inPieces(valid.padEnd(limit + more))]) {
      const answer = await send(body);
      expect(answer.status).toBe(413);
      expect(answer.text).toContain('"payload_too_large"');
      expect(answer.headers.connection).toBe('close');
    }
  });

  test('over the limit gets its answer even if the caller slowly sends all of it before reading', async () => {
    const wire = await openWire(gateway.url);
    const onReset = jest.fn();
    wire.socket.once('error', onReset);
    const bytes = limit + 2 * 1024 * 1024;
    const lines = [
      `Authorization: ${authorization}`,
      'Content-Type: application/json',
      `Content-Length: ${String(bytes)}`,
    ];
    wire.send(`${head(`POST ${path}`, ...lines)}\r\n`);
    for (let sent = 0; sent < bytes; sent += bytes / 8) {
      wire.send(' '.repeat(bytes / 8));
      await setTimeout(20);
    }
    expect(await wire.until(/payload_too_large/)).toMatch(/^HTTP\/1\.1 413 /);
    await wire.whole();
    expect(onReset).not.toHaveBeenCalled();
  });

  function inPieces(text: string): Buffer[] {
    const [bytes, size] = [Buffer.from(text), 64 * 1024];
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
  }
});

test.each([
  ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x7d]), 'encoding'],
  ['an incomplete character', Buffer.from('{"text":"caf\u00e9"}').subarray(0, -3), 'encoding'],
  ['UTF-16', Buffer.from(VALID, 'utf16le'), 'json'],
  ['nothing', '', 'json'],
  ['white space', ' \n ', 'json'],
  ['a part', VALID.slice(0, -1), 'json'],
  ['two values', VALID + VALID, 'json'],
  ['a comment', `${VALID} // hello`, 'json'],
  ['a name without quotes', '{text: "Hello"}', 'json'],
  ['NaN', '{"text": NaN}', 'json'],
  ['a form', 'text=Hello', 'json'],
])('a body that cannot be parsed: %s gets 400 in both APIs', async (_title, body, code) => {
  const { body: problem } = await post(typeof body === 'string' ? body : new Uint8Array(body));
  expect(problem).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ pointer: '', code }] });
  const headers = { ...JSON_TYPE, authorization };
  const answer = await raw(gateway.url, '/graphql', { method: 'POST', headers, body });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text).errors[0].extensions).toMatchObject({ code: 'invalid_request', status: 400 });
});

test('a duplicate member gets 400 and is named, and nothing is stored', async () => {
  const body = '{"products":[{"sku":"A","name":"A","s\\u006bu":"B"}]}';
  const { status, body: problem } = await caller.send('POST', '/products/bulk', { body, headers: JSON_TYPE });
  expect(status).toBe(400);
  const named = (pointer: string) => ({ code: 'invalid_request', errors: [{ pointer, code: 'duplicate' }] });
  expect(problem).toMatchObject(named('/products/0/sku'));
  expect((await caller.get('/products')).body.data).toEqual([]);
  const query = '{"query":"query ($id: ID!) { quote(id: $id) { id } }","variables":{"id":"1","id":"2"}}';
  const headers = { ...JSON_TYPE, authorization };
  const answer = await raw(gateway.url, '/graphql', { method: 'POST', headers, body: query });
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text).errors[0].extensions).toMatchObject(named('/variables/id'));
});

describe('an invalid body gets 422 with the error:', () => {
  test.each<[string, string, Json[]]>([
    ['a list', '[]', [{ pointer: '', code: 'type' }]],
    ['null', 'null', [{ pointer: '', code: 'required' }]],
    ['a number', '1', [{ pointer: '', code: 'type' }]],
    ['a text', '"text"', [{ pointer: '', code: 'type' }]],
    ['a null member', '{"text":null}', [{ pointer: '/text', code: 'required' }]],
    ['__proto__', '{"text":"Hello","__proto__":{"subject":"x"}}', [{ pointer: '/__proto__', code: 'unknown' }]],
    ['constructor', '{"text":"Hello","constructor":{}}', [{ pointer: '/constructor', code: 'unknown' }]],
    ['toString', '{"text":"Hello","toString":"x"}', [{ pointer: '/toString', code: 'unknown' }]],
    ['an operator', '{"text":{"$ne":null}}', [{ pointer: '/text', code: 'type' }]],
    ['a name with / and ~', '{"text":"Hello","a/b~c":1}', [{ pointer: '/a~1b~0c', code: 'unknown' }]],
    [
      'all errors together',
      '{"subject":7,"contact":{"email":"nobody","phone":1},"x":1}',
      [
        { pointer: '/text', code: 'required' },
        { pointer: '/x', code: 'unknown' },
        { pointer: '/subject', code: 'type' },
        { pointer: '/contact/name', code: 'required' },
        { pointer: '/contact/email', code: 'format' },
        { pointer: '/contact/phone', code: 'type' },
      ],
    ],
  ])('%s', async (_title, body, errors) => {
    const { body: problem } = await post(body);
    expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
    const found = (problem.errors as Json[]).map(({ pointer, code }) => ({ pointer, code }));
    expect(sorted(found)).toEqual(sorted(errors));
  });

  test.each([
    ['an unknown member', { products: [{ sku: 'A', name: 'A' }], dryrun: true }, '/dryrun'],
    ['an ill-typed list', { products: { sku: 'A', name: 'A' } }, '/products'],
    ['an ill-typed option', { products: [{ sku: 'A', name: 'A' }], atomic: 'yes' }, '/atomic'],
  ])('%s of a bulk call, and nothing is stored', async (_title, body, pointer) => {
    const { body: problem } = await caller.post('/products/bulk', body);
    expect(problem).toMatchObject({ status: 422, errors: [{ pointer }] });
    expect((await caller.get('/products')).body.data).toEqual([]);
  });

  function sorted(faults: Json[]): Json[] {
    return [...faults].sort((a, b) => (a.pointer < b.pointer ? -1 : 1));
  }
});
