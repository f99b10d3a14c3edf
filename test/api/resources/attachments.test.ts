import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { published } from '../../../src/schema/model';
import { eraseCustomer } from '../../../src/resources/eraseCustomer';
import { emptySandbox } from '../../../src/resources/sandbox';
import { idempotencyRecords } from '../../../src/tenant/idempotency';
import { fileChunks, files } from '../../../src/tenant/files';
import { operator, TOKENS } from '../../admin/operator/operator';
import type { Answer, Client, Json } from '../../support/client';
import { query } from '../../support/faces';
import { callerOf, makeKey, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { raw, type RawAnswer, type RawRequest } from '../http/raw';

/* Files attached to objects (docs/decisions/attachments.md). */

const MIB = 1024 * 1024;
const gateway = served(TOKENS);
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));
const key = late(() => makeKey(gateway, organisation));
const data = () => gateway.databases.organisationData(organisation);

const PDF = Buffer.concat([Buffer.from('%PDF-1.7\n'), randomBytes(600_000)]);
const named = (name: string): Record<string, string> => ({ 'content-disposition': `attachment; filename="${name}"` });
const AS_PDF = { 'content-type': 'application/pdf', ...named('drawing.pdf') };

/** A product or request without attachments: its path. */
async function newObject(resource: 'products' | 'requests', by: Client = caller): Promise<string> {
  if (resource === 'requests') return `/requests/${String((await by.post('/requests', { text: 'Hello' })).body.id)}`;
  const { body } = await by.post('/products/bulk', { products: [{ sku: randomUUID(), name: 'Bolt' }] });
  return `/products/${String(body.results[0].id)}`;
}
const attach = (
  path: string,
  body: Uint8Array | string = PDF,
  headers: Record<string, string> = AS_PDF,
  by: Client = caller,
): Promise<Answer> => by.send('POST', `${path}/attachments`, { body: body as BodyInit, headers });
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
/** How many files and chunks there are of an object. */
async function stored(path: string): Promise<[number, number]> {
  const owned = await data()
    .collection(files)
    .find({ 'metadata.object_id': path.split('/')[2] } as never)
    .toArray();
  const ids = owned.map(({ _id }) => _id);
  return [
    ids.length,
    await data()
      .collection(fileChunks)
      .countDocuments({ files_id: { $in: ids } }),
  ];
}

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
  for (const type of [
    'text/html',
    'image/svg+xml',
    'application/xhtml+xml',
    'text/xml',
    'application/javascript',
    'nonsense',
    '',
  ]) {
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

test('the bytes decide whether a file is of its type, and 415 names both', async () => {
  const path = await newObject('products');
  const as = (type: string, bytes: Buffer | string) => attach(path, bytes, { 'content-type': type, ...named('file') });
  const png = Buffer.from('\x89PNG\r\n\x1a\n rest', 'latin1');
  for (const [type, bytes, detail] of [
    ['image/png', PDF, 'Content-Type is image/png, but the body looks like application/pdf.'],
    ['application/pdf', png, 'Content-Type is application/pdf, but the body looks like image/png.'],
    ['image/jpeg', 'just text', 'Content-Type is image/jpeg, but the body looks like text.'],
    ['text/csv', Buffer.from([0xff, 0xfe, 0x41]), 'Content-Type is text/csv, but the body is not text in UTF-8.'],
    ['text/plain', 'a\0b', 'Content-Type is text/plain, but the body is not text in UTF-8.'],
    ['application/zip', png, 'Content-Type is application/zip, but the body looks like image/png.'],
    ['text/plain; charset=latin1', 'abc', 'Send text/plain in UTF-8.'],
  ] as const) {
    const { status, body } = await as(type, bytes as Buffer);
    expect([type, status, body.detail]).toEqual([type, 415, detail]);
  }
  for (const [type, bytes] of [
    ['IMAGE/PNG', png],
    ['text/csv; charset=UTF-8', 'ä,b'],
    ['application/octet-stream', '<svg/>'],
  ] as const)
    expect((await as(type, bytes as Buffer)).status).toBe(201);
  expect((await attach(path, PDF, { ...AS_PDF, 'content-encoding': 'gzip' })).status).toBe(415);
  expect((await attach(path, '', { 'content-type': 'text/plain', ...named('a') })).body.errors).toMatchObject([
    { pointer: '', code: 'length' },
  ]);
});

test('a name is what Content-Disposition says, and cannot break a header, hide its ending or name a folder', async () => {
  const path = await newObject('products');
  const nameOf = async (header: string | undefined) => {
    const { status, body, headers } = await attach(path, 'x', {
      'content-type': 'text/plain',
      ...(header !== undefined && { 'content-disposition': header }),
    });
    if (status !== 201) return [status, body.errors?.[0]?.code as unknown];
    const { headers: sent } = await get(headers.get('location')!.replace('/api/v1', ''));
    await caller.send('DELETE', headers.get('location')!.replace('/api/v1', ''));
    return [body.file_name as unknown, sent['content-disposition']];
  };
  expect(await nameOf('attachment; filename="a \\"b\\".txt"')).toEqual([
    'a "b".txt',
    'attachment; filename="a \\"b\\".txt"',
  ]);
  const coded = 'attachment; filename="na?ve.txt"; filename*=UTF-8\'\'na%C3%AFve%20%E2%82%AC.txt';
  expect(await nameOf(coded)).toEqual([
    'naïve €.txt',
    expect.stringContaining("filename*=UTF-8''na%C3%AFve%20%E2%82%AC.txt"),
  ]);
  // as curl sends it
  expect(await nameOf(Buffer.from('attachment; filename="é.txt"').toString('latin1'))).toEqual([
    'é.txt',
    expect.anything(),
  ]);
  for (const [header, code] of [
    [undefined, 'required'],
    ['attachment', 'format'],
    ['attachment; filename=""', 'format'],
    ['attachment; filename="../etc/passwd"', 'format'],
    ['attachment; filename="a\\\\b"', 'format'],
    ['attachment; filename=".."', 'format'],
    ["attachment; filename*=UTF-8''a%0D%0ASet-Cookie:x", 'format'],
    ["attachment; filename*=UTF-8''a%E2%80%AEfdp.exe", 'format'],
    [`attachment; filename="${'a'.repeat(256)}"`, 'length'],
    ['attachment; filename="unfinished', 'format'],
  ] as const)
    expect([header, await nameOf(header)]).toEqual([header, [400, code]]);
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
  // several parts, another unit, and one that ends before it begins: the whole file, as a server may answer
  for (const range of ['bytes=0-1,5-6', 'items=0-1', 'bytes=9-3', 'bytes=a-b'])
    expect((await get(at, { range })).status).toBe(200);
  const beyond = await get(at, { range: `bytes=${String(size)}-` });
  expect([beyond.status, beyond.headers['content-range']]).toEqual([416, `bytes */${String(size)}`]);
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
  const asked = (to: string, headers: Record<string, string>, authorization = `Bearer ${key.key}`) =>
    raw(gateway.url, `/api/v1${to}`, {
      method: 'POST',
      headers: { authorization, expect: '100-continue', ...headers },
    });
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
  expect((await attach('/requests/none', PDF)).body.errors).toMatchObject([{ parameter: 'id', code: 'format' }]);
  expect(
    (await caller.send('POST', `${path}/attachments?x=1`, { body: 'x', headers: AS_PDF })).body.errors,
  ).toMatchObject([{ parameter: 'x', code: 'unknown' }]);
  expect((await attach(path, PDF, { ...AS_PDF, 'idempotency-key': 'a b' })).status).toBe(400);
  // without 100 Continue the caller sends no body
  const { status, text } = await asked(nowhere, { ...AS_PDF, 'content-length': '100' });
  expect([status, JSON.parse(text).detail]).toEqual([404, 'There is no such request.']);
  const chunks = Array.from({ length: 11 }, () => Buffer.concat([Buffer.from('%PDF-'), Buffer.alloc(MIB)]));
  const cut = await raw(gateway.url, `/api/v1${path}/attachments`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key.key}`, ...AS_PDF },
    body: chunks,
  });
  expect([cut.status, await stored(path)]).toEqual([413, [0, 0]]);
  // a key that may only write adds and deletes, and reads nothing
  const { status: added, body } = await attach(path, PDF, AS_PDF, writer);
  expect([added, (await writer.send('HEAD', `${path}/attachments/${String(body.id)}`)).status]).toEqual([201, 403]);
  expect((await writer.send('DELETE', `${path}/attachments/${String(body.id)}`)).status).toBe(200);
  // another organisation's object is as if it were not there
  const stranger = await callerOf(gateway);
  expect((await attach(path, PDF, AS_PDF, stranger)).status).toBe(404);
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
  const before = (await caller.get(path)).body as Json;
  const { body } = await caller.post('/products/bulk', { products: [{ ...before, name: 'Nut', attachments: [] }] });
  expect(body).toMatchObject({ updated: 1 });
  expect((await caller.patch(path, { attachments: [] })).body.errors).toMatchObject([
    { pointer: '/attachments', code: 'unknown' },
  ]);
  expect(await shown(path)).toEqual(before.attachments);
});

test('an upload and a download cost a point for each MiB begun', async () => {
  const path = await newObject('requests');
  const left = ({ headers }: { headers: Headers | RawAnswer['headers'] }): number =>
    Number(headers instanceof Headers ? headers.get('x-ratelimit-remaining') : headers['x-ratelimit-remaining']);
  const start = left(await caller.get('/me'));
  const whole = Buffer.concat([Buffer.from('%PDF-'), Buffer.alloc(2 * MIB)]);
  const { body, headers } = await attach(path, whole);
  expect(start - left({ headers })).toBe(3);
  const at = `${path}/attachments/${String(body.id)}`;
  const first = left(await get(at, {}, { method: 'HEAD' }));
  expect(first - left(await get(at))).toBe(3);
  expect(first - left(await get(at, { range: 'bytes=0-1' }))).toBe(4);
});

test('erasing a customer deletes the files of its requests, also those whose row has them no longer, and their names everywhere', async () => {
  const { body: report } = await caller.post('/customers/bulk', {
    customers: [{ external_ref: randomUUID(), name: 'Ann' }],
  });
  const customerId = report.results[0].id as string;
  const open = async (customer?: string) =>
    `/requests/${String((await caller.post('/requests', { text: 'Hello', ...(customer !== undefined && { customer_id: customer }) })).body.id)}`;
  const [path, other] = [await open(customerId), await open()];
  const headers = { ...AS_PDF, ...named('passport of Ann.pdf'), 'idempotency-key': randomUUID() };
  const { body } = await attach(path, PDF, headers);
  await attach(other);
  // as a gateway of the version before leaves a file
  const left = {
    ...(await data()
      .collection(files)
      .findOne({ _id: body.id as string }))!,
    _id: randomUUID(),
  };
  await data().collection(files).insertOne(left);
  await eraseCustomer(data(), customerId, { by: 'operator', signal: new AbortController().signal });
  expect([await shown(path), await stored(path), await stored(other)]).toEqual([[], [0, 0], [1, 3]]);
  const everything = await Promise.all(
    (await data().database.collections()).map(async (collection) => JSON.stringify(await collection.find().toArray())),
  );
  expect(everything.filter((text) => text.includes('passport'))).toEqual([]);
  expect(
    await data()
      .collection(idempotencyRecords)
      .findOne({ 'answer.attached_to': path.split('/')[2] } as never),
  ).toMatchObject({
    answer: { attachment: { file_name: 'erased' } },
  });
});

test("the operator's put and patch keep attachments, its delete deletes their files, and so does emptying a sandbox", async () => {
  const path = await newObject('products');
  await attach(path);
  const write = async (...writes: object[]): Promise<Json> =>
    (await operator(gateway).post(`/organisations/${organisation.id}/writes`, { writes })).body;
  const { body: before } = await caller.get(path);
  const id = before.id as string;
  const put = { id, sku: before.sku as string, name: 'Screw', attachments: [] };
  expect(await write({ type: 'product', put }, { type: 'product', patch: { id, name: 'Nail' } })).toMatchObject({
    updated: 2,
  });
  expect((await caller.get(path)).body).toMatchObject({ name: 'Nail', attachments: before.attachments });
  expect(await stored(path)).toEqual([1, 3]);
  expect(await write({ type: 'product', delete: { id } })).toMatchObject({ deleted: 1 });
  expect(await stored(path)).toEqual([0, 0]);
  const own = await makeOrganisation(gateway);
  const by = await callerOf(gateway, own);
  await attach(await newObject('requests', by), PDF, AS_PDF, by);
  const sandbox = gateway.databases.organisationData(own);
  await emptySandbox(sandbox, { by: 'operator' });
  const left = [sandbox.collection(files), sandbox.collection(fileChunks)].map((rows) => rows.countDocuments());
  expect(await Promise.all(left)).toEqual([0, 0]);
});
