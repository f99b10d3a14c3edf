import { randomUUID } from 'node:crypto';
import * as rows from '../../../src/stored/rows';
import type { Answer, Json } from '../../support/client';
import { callerOf, makeNorthwind } from '../../support/factories';
import { late, served } from '../../support/gateway';

/* PATCH of one object, with If-Match naming the version to change. */

jest.mock('../../../src/stored/rows', () => ({
  __esModule: true,
  ...jest.requireActual<object>('../../../src/stored/rows'),
}));
const { writeRows } = jest.requireActual<typeof rows>('../../../src/stored/rows');

/** If a test sets this, writers wait for each other between their check and their write. */
let meet: (() => Promise<void>) | undefined;

let row: Json;

const gateway = served();
const organisation = late(() => makeNorthwind(gateway, 5));
const caller = late(() => callerOf(gateway, organisation));
const stranger = late(() => callerOf(gateway));
beforeEach(async () => {
  meet = undefined;
  jest.spyOn(rows, 'writeRows').mockImplementation(async (...args: Parameters<typeof writeRows>) => {
    await meet?.();
    return writeRows(...args);
  });
  row = (await caller.get('/products', { limit: 1 })).body.data[0];
});

const read = (): Promise<Answer> => caller.get(`/products/${String(row.id)}`);
const tagNow = async (): Promise<string> => (await read()).headers.get('etag')!;

function patch(body: object, headers: Record<string, string> = {}, as = caller, id = String(row.id)): Promise<Answer> {
  return as.patch(`/products/${id}`, body, headers);
}

const DOCUMENT = `mutation($id: ID!, $if_match: String, $description: String) {
  update_product(id: $id, if_match: $if_match, description: $description) { etag description } }`;

function mutate(description: string | null, if_match?: string | null): Promise<Answer> {
  return caller.graphql(DOCUMENT, { id: row.id, description, if_match });
}

let texts = 0;
/** A description that no product has. */
const text = (): string => `Description ${String((texts += 1))}`;

test('a change with the current version is stored, and returns the new object and its ETag', async () => {
  const before = await read();
  const description = text();
  const changed = await patch({ description }, { 'if-match': before.headers.get('etag')! });
  const after = await read();
  expect([changed.status, changed.body]).toEqual([
    200,
    { ...before.body, description, updated_at: expect.any(String) },
  ]);
  expect(changed.body.updated_at > before.body.updated_at).toBe(true);
  expect(after.text).toBe(changed.text);
  expect(changed.headers.get('etag')).toBe(after.headers.get('etag'));
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
});

test('a change with an older version gets 412 in both APIs and stores nothing', async () => {
  const old = await tagNow();
  await patch({ description: text() });
  const before = await read();
  const { status, body, headers } = await patch({ description: text() }, { 'if-match': old });
  expect([status, headers.get('content-type'), headers.has('etag')]).toEqual([412, 'application/problem+json', false]);
  expect(body).toMatchObject({ type: '/errors/precondition_failed', code: 'precondition_failed', status: 412 });
  const graphql = await mutate(text(), old);
  expect(graphql.body).toMatchObject({ errors: [{ extensions: { code: 'precondition_failed', status: 412 } }] });
  expect((await read()).text).toBe(before.text);
});

test('an object that is missing or belongs to another organisation gets 404, whatever If-Match says', async () => {
  const tag = await tagNow();
  const problems: Json[] = [];
  for (const headers of [{}, { 'if-match': tag }, { 'if-match': '*' }] as Record<string, string>[]) {
    const answers = [
      await patch({ description: text() }, headers, stranger),
      await patch({ description: text() }, headers, caller, randomUUID()),
    ];
    problems.push(...answers.map(({ body }) => ({ ...body, request_id: '' })));
  }
  expect(problems).toHaveLength(6);
  for (const problem of problems) expect(problem).toEqual({ ...problems[0], status: 404, code: 'not_found' });
});

test.each([2, 5])('of %i writers with the same version, exactly one succeeds', async (writers) => {
  const tag = await tagNow();
  let waiting = 0;
  let go: () => void = () => undefined;
  const all = new Promise<void>((resolve) => (go = resolve));
  // every writer passes the check before any of them writes
  meet = () => ((waiting += 1) >= writers ? go() : undefined, all);
  const answers = await Promise.all(
    Array.from({ length: writers }, async (_, at) => {
      if (at % 2 === 0) return (await patch({ description: text() }, { 'if-match': tag })).status;
      const { body } = await mutate(text(), tag);
      return (body.errors?.[0].extensions.status ?? 200) as number;
    }),
  );
  expect(answers.sort()).toEqual([200, ...Array.from({ length: writers - 1 }, () => 412)]);
});

test('a repeated write gets its first answer, not a 412 caused by its own change', async () => {
  const headers = { 'idempotency-key': randomUUID(), 'if-match': await tagNow() };
  const body = { description: text() };
  const first = await patch(body, headers);
  const again = await patch(body, headers);
  expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.headers.get('etag')).toBe(first.headers.get('etag'));
  expect(await patch(body, { ...headers, 'if-match': await tagNow() })).toMatchObject({
    status: 422,
    body: { code: 'idempotency_key_reused' },
  });
});

test('a write that got 412 is not recorded, so the next attempt can use the same Idempotency-Key', async () => {
  const [old, headers] = [await tagNow(), { 'idempotency-key': randomUUID() }];
  await patch({ description: text() });
  const body = { description: text() };
  expect((await patch(body, { ...headers, 'if-match': old })).status).toBe(412);
  expect((await patch(body, { ...headers, 'if-match': await tagNow() })).status).toBe(200);
});

test('null clears a member in both APIs, and an omitted one keeps its value', async () => {
  const description = text();
  expect((await patch({ description })).body).toMatchObject({ description });
  expect((await patch({})).body).toMatchObject({ description });
  expect((await patch({ description: null })).body).toMatchObject({ description: null });
  await patch({ description });
  expect((await mutate(null)).body.data.update_product).toMatchObject({ description: null });
});

test('a write that changes nothing keeps the version', async () => {
  const before = await read();
  const { status, text, headers } = await patch({ description: before.body.description }, { 'if-match': '*' });
  expect([status, text, headers.get('etag')]).toEqual([200, before.text, before.headers.get('etag')]);
  expect((await patch({})).text).toBe(before.text);
});

test('a version in the query or the body is an unknown parameter or member', async () => {
  const tag = await tagNow();
  expect(await patch({ if_match: tag })).toMatchObject({ status: 422, body: { errors: [{ code: 'unknown' }] } });
  for (const name of ['if_match', 'If-Match']) {
    const path = `/products/${String(row.id)}?${name}=${encodeURIComponent(tag)}`;
    expect(await caller.patch(path, {})).toMatchObject({ status: 400, body: { errors: [{ code: 'unknown' }] } });
  }
});

test('with a matching version, an invalid change gets 422, names the null member and stores nothing', async () => {
  const tag = await tagNow();
  expect(await patch({ name: null }, { 'if-match': tag })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/name', code: 'required' }] },
  });
  expect(await tagNow()).toBe(tag);
});

test.each([
  ['products', 'sku', 'product'],
  ['customers', 'external_ref', 'customer'],
])('%s: a change may set a new key, unless another object has it', async (list, key, name) => {
  const [one, other] = (await caller.get(`/${list}`, { limit: 2 })).body.data as Json[];
  const path = `/${list}/${String(one!.id)}`;
  const refused = await caller.patch(path, { [key]: other![key] });
  expect(refused).toMatchObject({
    status: 409,
    body: {
      code: 'conflict',
      errors: [
        { pointer: `/${key}`, code: 'conflict', detail: `belongs to another ${name} (id ${String(other!.id)})` },
      ],
    },
  });
  const renamed = `e\u0301-${randomUUID()}`;
  expect((await caller.patch(path, { [key]: renamed })).body).toEqual({
    ...one,
    [key]: renamed.normalize('NFC'),
    updated_at: expect.any(String),
  });
  expect((await caller.get(`/${list}`, { [key]: renamed })).body.data).toMatchObject([{ id: one!.id }]);
});

test('null has the same meaning as in a bulk call, and -0 is stored as 0', async () => {
  await patch({ uom: 'kg', active: false, unit_price_minor: 5 });
  const body = '{"uom": null, "active": null, "unit_price_minor": -0.0, "currency": null}';
  const { body: after } = await caller.send('PATCH', `/products/${String(row.id)}`, {
    body,
    headers: { 'content-type': 'application/json' },
  });
  expect(after).toMatchObject({ uom: 'each', active: true, unit_price_minor: 0, currency: 'USD' });
});

test('a contact keeps its id when its name changes, even if another contact has that name', async () => {
  const [customer] = (await caller.get('/customers', { limit: 1 })).body.data as Json[];
  const path = `/customers/${String(customer!.id)}`;
  const [ann, bob] = (await caller.patch(path, { contacts: [{ name: 'Ann' }, { name: 'Bob' }] })).body
    .contacts as Json[];
  const swapped = await caller.patch(path, {
    contacts: [
      { id: bob!.id, name: 'Ann' },
      { id: ann!.id, name: 'Cleo' },
    ],
  });
  expect(swapped.body.contacts).toMatchObject([
    { id: bob!.id, name: 'Ann' },
    { id: ann!.id, name: 'Cleo' },
  ]);
  const unknown = randomUUID();
  const renamed = await caller.patch(path, {
    contacts: [
      { id: unknown, name: 'Cleo' },
      { id: randomUUID(), name: 'Dan' },
    ],
  });
  const [cleo, dan] = renamed.body.contacts as Json[];
  expect(cleo!.id).toBe(ann!.id);
  expect([unknown, bob!.id]).not.toContain(dan!.id);
  const twice = await caller.patch(path, {
    contacts: [
      { name: 'A', primary: true },
      { name: 'B', primary: true },
    ],
  });
  expect(twice).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/contacts/1/primary', code: 'duplicate' }] },
  });
  const same = await caller.patch(path, {
    contacts: [
      { id: bob!.id, name: 'A' },
      { id: bob!.id.toUpperCase(), name: 'B' },
    ],
  });
  expect(same).toMatchObject({ status: 422, body: { errors: [{ pointer: '/contacts/1/id', code: 'duplicate' }] } });
  const element = {
    external_ref: customer!.external_ref,
    contacts: [
      { name: 'A', primary: true },
      { name: 'B', primary: true },
    ],
  };
  const bulk = await caller.post('/customers/bulk', { customers: [element] });
  expect(bulk.body.results[0].errors).toMatchObject([
    { pointer: '/customers/0/contacts/1/primary', code: 'duplicate' },
  ]);
});
