import { createHash, randomUUID } from 'node:crypto';
import { requests } from '../../../src/resources/requests/requests';
import { published } from '../../../src/schema/model';
import { AS_PDF, attaching, named, PDF } from '../../support/attachments';
import { client, type Json } from '../../support/client';
import { query } from '../../support/faces';
import { callerOf, makeKey, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { head, openWire } from '../../operations/wire';
import { raw, type RawAnswer, type RawRequest } from '../http/raw';

/* Files attached to objects (docs/decisions/attachments.md). */

const MIB = 1024 * 1024;
const gateway = served();
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));
const key = late(() => makeKey(gateway, organisation));
const data = () => gateway.databases.organisationData(organisation);

const { newObject, attach, stored } = attaching(caller, () => data());
/** The answer as it is, since a download is no JSON. */
const get = (path: string, headers: Record<string, string> = {}, more: RawRequest = {}): Promise<RawAnswer> =>
  raw(gateway.url, `/api/v1${path}`, { ...more, headers: { authorization: `Bearer ${key.key}`, ...headers } });
const bytesAt = async (path: string, headers: Record<string, string> = {}): Promise<Buffer> => {
  const response = await fetch(`${gateway.url}/api/v1${path}`, {
    headers: { authorization: `Bearer ${key.key}`, ...headers },
  });
  return Buffer.from(await response.arrayBuffer());
};
const shown = async (path: string): Promise<Json> => (await caller.get(path)).body.attachments;
const left = ({ headers }: { headers: Headers | RawAnswer['headers'] }): number =>
  Number(headers instanceof Headers ? headers.get('x-ratelimit-remaining') : headers['x-ratelimit-remaining']);
/** The headers that a download has and its errors have not, or otherwise. */
const ofFile = ({ headers }: RawAnswer): object => {
  const names = ['etag', 'cache-control', 'content-disposition', 'content-security-policy', 'accept-ranges'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.includes(name)));
};
const ERROR_HEADERS = { 'cache-control': 'no-store' };

test('requests and products have them, and no other type', () => {
  expect(published.attachables.map(({ stored: { type } }) => type).sort()).toEqual(['Product', 'Request']);
});

test.each(['products', 'requests'] as const)(
  'a file of %s is in the object, in GraphQL and in lists, is read back byte by byte, and is deleted with its bytes',
  async (resource) => {
    const path = await newObject(resource);
    const before = await caller.get(path);
    expect(before.body.attachments).toEqual([]);
    const { status, body, headers } = await attach(path);
    expect([status, headers.get('location')]).toEqual([201, `/api/v1${path}/attachments/${String(body.id)}`]);
    const sha256 = createHash('sha256').update(PDF).digest('hex');
    expect(body).toMatchObject({ file_name: 'drawing.pdf', content_type: 'application/pdf', size: PDF.length, sha256 });
    const after = await caller.get(path);
    expect(after.body).toEqual({ ...before.body, attachments: [body], updated_at: after.body.updated_at });
    expect(
      after.body.updated_at > before.body.updated_at || after.headers.get('etag') !== before.headers.get('etag'),
    ).toBe(true);
    const listed = await caller.get(`/${resource}`, { id: path.split('/')[2] });
    expect(listed.body.data[0].attachments).toEqual([body]);
    const one = resource === 'products' ? 'product' : 'request';
    const asked = await query(
      caller,
      `query ($id: ID!) { ${one}(id: $id) { etag attachments { id size file_name } } }`,
      {
        id: path.split('/')[2],
      },
    );
    expect(asked[one]).toEqual({
      etag: after.headers.get('etag'),
      attachments: [{ id: body.id, size: PDF.length, file_name: 'drawing.pdf' }],
    });
    const at = `${path}/attachments/${String(body.id)}`;
    expect((await bytesAt(at)).equals(PDF)).toBe(true);
    expect(await stored(path)).toEqual([1, 3]);
    const deleted = await caller.send('DELETE', at);
    expect([deleted.status, deleted.body]).toEqual([200, body]);
    expect([await shown(path), await stored(path), (await get(at)).status]).toEqual([[], [0, 0], 404]);
    expect((await caller.send('DELETE', at)).status).toBe(404);
    // its tag is that of an object that never had any, but for the time of the change
    expect(
      await data()
        .database.collection(resource)
        .findOne({ _id: path.split('/')[2] } as never),
    ).not.toHaveProperty('attachments');
  },
);

test('no browser shows a file: whatever it is, it is saved, as the type that it was checked to be', async () => {
  const path = await newObject('requests');
  const html = '<script>alert(1)</script>';
  for (const type of ['text/html', 'image/svg+xml']) {
    const refused = await attach(path, html, { 'content-type': type, ...named('a.html') });
    expect([type, refused.status, refused.body.code]).toEqual([type, 415, 'unsupported_media_type']);
    expect(refused.headers.get('accept')).toContain('image/png');
  }
  const { body } = await attach(path, html, { 'content-type': 'text/plain', ...named('a.html') });
  const { headers } = await get(`${path}/attachments/${String(body.id)}`);
  expect(headers).toMatchObject({
    'content-type': 'text/plain; charset=utf-8',
    'content-disposition': 'attachment; filename=a.html',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
    'cache-control': 'private, no-cache',
    'accept-ranges': 'bytes',
  });
});

test('a body that is empty, compressed, of another type than it says or without a name is refused', async () => {
  const path = await newObject('products');
  const AS_PNG = { 'content-type': 'image/png', ...named('a.png') };
  for (const [status, code, bytes, headers] of [
    [415, 'unsupported_media_type', '%PDF-', AS_PNG],
    [415, 'unsupported_media_type', '%PDF-', { ...AS_PDF, 'content-encoding': 'gzip' }],
    [422, 'validation_failed', '', { 'content-type': 'text/plain', ...named('a') }],
    [400, 'invalid_request', '%PDF-', { 'content-type': 'application/pdf' }],
    [400, 'invalid_request', '%PDF-', { ...AS_PDF, ...named('../a') }],
  ] as const) {
    const { body, ...answer } = await attach(path, bytes, headers);
    expect([answer.status, body.code]).toEqual([status, code]);
  }
  const coded = {
    'content-type': 'text/plain',
    'content-disposition': "attachment; filename*=UTF-8''%E2%82%AC%22.txt",
  };
  const { body, headers } = await attach(path, 'x', coded);
  const { headers: sent } = await get(headers.get('location')!.replace('/api/v1', ''));
  expect([body.file_name, sent['content-disposition']]).toEqual([
    '€".txt',
    expect.stringContaining("filename*=UTF-8''%E2%82%AC%22.txt"),
  ]);
});

test('a part is asked for by a range, and a download that broke off goes on where it was', async () => {
  const path = await newObject('products');
  const { body } = await attach(path);
  const at = `${path}/attachments/${String(body.id)}`;
  const { headers, status } = await get(at, {}, { method: 'HEAD' });
  const [tag, size] = [headers.etag!, PDF.length];
  expect([status, headers['content-length'], headers['accept-ranges']]).toEqual([200, String(size), 'bytes']);
  for (const [range, start, end] of [
    ['bytes=0-0', 0, 1],
    ['bytes=261119-261121', 261_119, 261_122],
    ['bytes=-5', size - 5, size],
    [`bytes=${String(size - 1)}-`, size - 1, size],
    ['bytes=100-99999999', 100, size],
  ] as const) {
    const part = await get(at, { range });
    expect([range, part.status, part.headers['content-range']]).toEqual([
      range,
      206,
      `bytes ${String(start)}-${String(end - 1)}/${String(size)}`,
    ]);
    expect((await bytesAt(at, { range })).equals(PDF.subarray(start, end))).toBe(true);
  }
  const beyond = await get(at, { range: `bytes=${String(size)}-` });
  expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${String(size)}`]);
  expect(ofFile(beyond)).toEqual(ERROR_HEADERS);
  expect(JSON.parse(beyond.text)).toMatchObject({ code: 'range_not_satisfiable' });
  const resumed = await Promise.all([
    bytesAt(at, { range: 'bytes=0-299999' }),
    bytesAt(at, { range: 'bytes=300000-', 'if-range': tag }),
  ]);
  expect(Buffer.concat(resumed).equals(PDF)).toBe(true);
  expect((await get(at, { range: 'bytes=0-1', 'if-range': '"another"' })).status).toBe(200);
  expect((await get(at, { 'if-none-match': tag })).status).toBe(304);
  expect((await get(at, { 'if-match': '"another"' })).status).toBe(412);
});

test('it is checked in the order of the contract, and the body is read only when there is an object', async () => {
  const path = await newObject('requests');
  const nowhere = `/requests/${randomUUID()}/attachments`;
  const reader = await callerOf(gateway, organisation, { scopes: ['requests:read'] });
  const writer = await callerOf(gateway, organisation, { scopes: ['requests:write'] });
  const huge = { ...AS_PDF, 'content-length': String(10 * MIB + 1) };
  const asked = async (to: string, headers: Record<string, string>, authorization = `Bearer ${key.key}`) => {
    const wire = await openWire(gateway.url);
    const lines = Object.entries({ authorization, expect: '100-continue', ...headers });
    wire.send(`${head(`POST /api/v1${to}`, ...lines.map(([name, value]) => `${name}: ${value}`))}\r\n`);
    const answer = await wire.until(/\r\n\r\n\{.*\}$/s);
    wire.socket.end();
    await wire.whole();
    return { status: Number(answer.slice(9, 12)), body: JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) };
  };
  expect((await asked(nowhere, huge, 'Bearer nothing')).status).toBe(401);
  expect((await attach(path, 'x', {}, reader)).body).toMatchObject({
    code: 'insufficient_scope',
    required_scope: 'requests:write',
  });
  expect((await caller.send('PUT', `${path}/attachments`)).headers.get('allow')).toBe('POST');
  expect((await caller.send('PATCH', `${path}/attachments/${randomUUID()}`)).headers.get('allow')).toBe(
    'GET, HEAD, DELETE',
  );
  expect((await asked(nowhere, { ...huge, accept: 'text/html' })).status).toBe(406);
  expect((await asked(nowhere, { ...huge, 'content-type': 'text/html' })).status).toBe(415);
  expect((await asked(nowhere, huge)).status).toBe(413);
  expect((await attach('/requests/none', '%PDF-')).body.errors).toMatchObject([{ parameter: 'id', code: 'format' }]);
  expect(
    (await caller.send('POST', `${path}/attachments?x=1`, { body: 'x', headers: AS_PDF })).body.errors,
  ).toMatchObject([{ parameter: 'x', code: 'unknown' }]);
  expect((await attach(path, '%PDF-', { ...AS_PDF, 'idempotency-key': 'a b' })).status).toBe(400);
  // without 100 Continue the caller sends no body
  const { status, body: problem } = await asked(nowhere, { ...AS_PDF, 'content-length': '100' });
  expect([status, problem.detail]).toEqual([404, 'There is no such request.']);
  // a body whose length nobody said is cut where it is too long, and costs what was read
  // by a key of its own, whose minute begins here
  const own = { authorization: `Bearer ${(await makeKey(gateway, organisation)).key}` };
  const start = left(await get('/me', own));
  const wire = await openWire(gateway.url);
  const lines = Object.entries({ ...own, 'transfer-encoding': 'chunked', ...AS_PDF });
  const tooLong = 10 * MIB + 1;
  wire.send(
    `${head(`POST /api/v1${path}/attachments`, ...lines.map(([name, value]) => `${name}: ${value}`))}\r\n${tooLong.toString(16)}\r\n${'%PDF-'.padEnd(tooLong)}`,
  );
  expect(await wire.until(/"code":"\w+"/)).toMatch(/^HTTP\/1\.1 413 [^]*"code":"payload_too_large"/);
  wire.socket.end();
  await wire.whole();
  expect(start - left(await get('/me', own))).toBe(12);
  expect(await stored(path)).toEqual([0, 0]);
  // a key that may only write adds and deletes, and reads nothing
  const { status: added, body } = await attach(path, PDF, AS_PDF, writer);
  expect([added, (await writer.send('HEAD', `${path}/attachments/${String(body.id)}`)).status]).toEqual([201, 403]);
  expect((await writer.send('DELETE', `${path}/attachments/${String(body.id)}`)).status).toBe(200);
  // another organisation's object is as if it were not there
  const stranger = await callerOf(gateway);
  expect((await attach(path, '%PDF-', AS_PDF, stranger)).status).toBe(404);
});

test('an Idempotency-Key stores a file once, and replays its answer; another file is refused', async () => {
  const path = await newObject('requests');
  const headers = { ...AS_PDF, 'idempotency-key': randomUUID() };
  const [first, second] = await Promise.all([attach(path, PDF, headers), attach(path, PDF, headers)]);
  const done = [first, second].filter(({ status }) => status === 201);
  for (const { body } of done) expect(body).toEqual(done[0]!.body);
  const again = await attach(path, PDF, headers);
  expect([again.status, again.headers.get('idempotent-replayed'), again.body]).toEqual([201, 'true', done[0]!.body]);
  expect([(await shown(path)).length, await stored(path)]).toEqual([1, [1, 3]]);
  expect((await attach(path, Buffer.concat([PDF, PDF]), headers)).body.code).toBe('idempotency_key_reused');
  expect((await attach(path, PDF, { ...headers, ...named('other.pdf') })).body.code).toBe('idempotency_key_reused');
  const key = { 'idempotency-key': randomUUID() };
  const at = `${path}/attachments/${String(again.body.id)}`;
  const gone = await caller.send('DELETE', at, { headers: key });
  const replayed = await caller.send('DELETE', at, { headers: key });
  expect([gone.status, replayed.status, replayed.body]).toEqual([200, 200, gone.body]);
  // once the object is gone, a repeat still gets the first answer, and no other request does
  await data()
    .collection(requests)
    .deleteOne({ _id: path.split('/').at(-1)! });
  const late = await attach(path, PDF, headers);
  expect([late.status, late.headers.get('idempotent-replayed'), late.body]).toEqual([201, 'true', done[0]!.body]);
  for (const more of [AS_PDF, { ...AS_PDF, 'idempotency-key': randomUUID() }])
    expect((await attach(path, PDF, more)).body).toMatchObject({
      code: 'not_found',
      detail: 'There is no such request.',
    });
});

test('an object has at most 20, also of uploads at once; a bulk call that sends them back changes nothing', async () => {
  const path = await newObject('products');
  const answers = await Promise.all(
    Array.from({ length: 23 }, (_none, at) =>
      attach(path, 'x', { 'content-type': 'text/plain', ...named(`${String(at)}.txt`) }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(20);
  const refused = answers.filter(({ status }) => status !== 201);
  for (const { body } of refused) expect(body.errors).toMatchObject([{ pointer: '/attachments', code: 'too_many' }]);
  expect(await stored(path)).toEqual([20, 20]);
  const before = (await caller.get(path)).body;
  const { body } = await caller.post('/products/bulk', { products: [{ ...before, name: 'Nut', attachments: [] }] });
  expect(body).toMatchObject({ updated: 1 });
  expect((await caller.patch(path, { attachments: [] })).body.errors).toMatchObject([
    { pointer: '/attachments', code: 'unknown' },
  ]);
  expect(await shown(path)).toEqual(before.attachments);
});

test('an upload and a download cost a point for each MiB begun', async () => {
  const path = await newObject('requests');
  // by a key of its own, whose minute begins here
  const { key: text } = await makeKey(gateway, organisation);
  const [own, authorization] = [client(gateway, text), `Bearer ${text}`];
  const start = left(await own.get('/me'));
  const whole = Buffer.concat([Buffer.from('%PDF-'), Buffer.alloc(2 * MIB)]);
  const { body, headers } = await attach(path, whole, AS_PDF, own);
  expect(start - left({ headers })).toBe(3);
  const at = `${path}/attachments/${String(body.id)}`;
  const first = left(await get(at, { authorization }, { method: 'HEAD' }));
  expect(first - left(await get(at, { authorization }))).toBe(3);
  expect(first - left(await get(at, { authorization, range: 'bytes=0-1' }))).toBe(4);
});

test('an entry with the id of another object’s file leads to nothing: its bytes are neither read nor deleted', async () => {
  const [path, other] = [await newObject('products'), await newObject('products')];
  await attach(path);
  const { body } = await attach(other);
  // as another program may write it
  await data()
    .database.collection('products')
    .updateOne({ _id: path.split('/')[2] } as never, { $set: { 'attachments.0.id': body.id } });
  const at = `${path}/attachments/${String(body.id)}`;
  const missing = await get(at);
  expect([missing.status, ofFile(missing)]).toEqual([500, ERROR_HEADERS]);
  expect((await caller.send('DELETE', at)).status).toBe(200);
  expect(await stored(other)).toEqual([1, 3]);
  expect((await bytesAt(`${other}/attachments/${String(body.id)}`)).equals(PDF)).toBe(true);
});
