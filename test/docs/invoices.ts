/* A test of the copy made by contributing.slow.test.ts, where it is test/api/invoices.test.ts: what the guide's rules promise. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Scope } from '../../src/auth/scopes';
import { importPath } from '../../src/cli/import/importPath';
import { callerOf, makeOrganisation } from '../support/factories';
import { late, served } from '../support/gateway';

const DAY = '2026-11-21T09:00:00.000Z';
const ROW = {
  id: randomUUID(),
  number: 'INV-2026-1',
  status: 'open',
  currency: 'EUR',
  total_minor: 12_345,
  due_on: '2026-12-24',
  customer_id: null,
  created_at: DAY,
  updated_at: DAY,
};

const gateway = served();
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => {
  const scopes = ['invoices:read', 'invoices:write', 'customers:read'] as unknown as Scope[];
  return callerOf(gateway, organisation, { scopes });
});

test('invoices are imported, but not one that is due before it was made', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-invoices-'));
  const early = { ...ROW, id: randomUUID(), number: 'INV-2026-2', due_on: '2026-11-20' };
  await writeFile(join(folder, 'invoices.ndjson'), [ROW, early].map((row) => `${JSON.stringify(row)}\n`).join(''));
  const faults: unknown[] = [];
  await importPath({
    data: gateway.databases.organisationData(organisation),
    path: folder,
    onFault: (fault) => faults.push(fault),
    progress: { start: () => undefined, update: () => undefined, stop: () => undefined },
    signal: new AbortController().signal,
  });
  await rm(folder, { recursive: true });
  expect(faults).toMatchObject([{ line: 2, pointer: '/due_on', code: 'order' }]);
  expect((await caller.get(`/invoices/${ROW.id}`)).body).toEqual(ROW);
});

test.each([
  [{}, 1],
  [{ q: 'inv 2026', status: ['open', 'paid'] }, 1],
  [{ status: 'paid' }, 0],
  [{ number: 'INV-2026-1' }, 1],
  [{ number: 'INV-2026' }, 0],
  [{ due_before: '2026-12-25' }, 1],
  [{ due_before: '2026-12-24' }, 0],
  [{ min_total: 12_345 }, 1],
  [{ min_total: 12_346 }, 0],
])('of the list with %j there are %i', async (query, count) => {
  const { body } = await caller.get('/invoices', query);
  expect(body).toEqual({ data: count === 1 ? [ROW] : [], has_more: false, next_cursor: null });
});

test('their totals are by month', async () => {
  const month = { currency: 'EUR', month: '2026-11', count: 1, total_minor: 12_345 };
  for (const [period, data] of [
    [`from: "${DAY}", to: "2027-01-01"`, [month]],
    [`to: "${DAY}"`, []],
  ] as const) {
    const asked = `{ invoice_totals(group_by: [MONTH], ${period}) { data { currency month count total_minor } } }`;
    expect((await caller.graphql(asked)).body).toEqual({ data: { invoice_totals: { data } } });
  }
});

test('one is changed if it is as it was read, by one of two writers, and once however often that is sent', async () => {
  const path = `/invoices/${ROW.id}`;
  const tag = async (): Promise<string> => (await caller.get(path)).headers.get('etag')!;
  const patch = (body: object, headers: Record<string, string> = {}, at = path) => caller.patch(at, body, headers);
  const first = await tag();
  const paid = await patch({ status: 'paid' }, { 'if-match': first });
  expect(paid).toMatchObject({ status: 200, body: { ...ROW, status: 'paid', updated_at: expect.any(String) } });
  const stale = await patch({ status: 'open' }, { 'if-match': first });
  expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
  expect(await patch({ due_on: null })).toMatchObject({ status: 200, body: { due_on: null } });
  expect(await patch({}, { 'if-match': '*' }, `/invoices/${randomUUID()}`)).toMatchObject({ status: 404 });
  const early = await patch({ due_on: '2026-11-20' });
  expect(early).toMatchObject({ status: 422, body: { errors: [{ pointer: '/due_on', code: 'order' }] } });
  const query = `mutation($id: ID!, $tag: String) { update_invoice(id: $id, if_match: $tag, status: void) { status } }`;
  const { body } = await caller.graphql(query, { id: ROW.id, tag: await tag() });
  expect(body).toEqual({ data: { update_invoice: { status: 'void' } } });
  const read = { 'if-match': await tag() };
  const both = await Promise.all(['2027-01-01', '2027-01-02'].map((due_on) => patch({ due_on }, read)));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  const again = { 'if-match': await tag(), 'idempotency-key': randomUUID() };
  await patch({ status: 'open' }, again);
  const repeated = await patch({ status: 'open' }, again);
  expect([repeated.status, repeated.headers.has('idempotent-replayed')]).toEqual([200, true]);
});
