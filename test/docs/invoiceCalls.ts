/*
 * Run inside the copy made by contributing.test.ts: imports its invoices, serves and calls them, and prints the results as
 * JSON. The modules imported are the copy's.
 */
import { randomUUID } from 'node:crypto';
import pino from 'pino';
import { importPath } from '../../src/cli/import/importPath';
import { openStore } from '../../src/cli/common/open';
import { readConfig } from '../../src/config';
import { startServer } from '../../src/server';
import type { Json } from '../support/client';

async function main(): Promise<void> {
  const config = readConfig();
  const store = await openStore(config, () => undefined);
  const server = await startServer({ config, ...store, logger: pino({ level: 'silent' }) });
  const organisation = await store.control.organisations.create({
    name: 'Guide',
    plan: 'integrations',
    currency: 'EUR',
  });
  const faults: unknown[] = [];
  await importPath({
    data: store.databases.organisationData(organisation),
    path: 'data',
    onFault: (fault) => faults.push(fault),
    progress: { start: () => undefined, update: () => undefined, stop: () => undefined },
    signal: new AbortController().signal,
  });
  const keyFor = async (scopes: string[]): Promise<string> => {
    const made = await store.control.apiKeys.create({
      ...{
        organisationId: organisation.id,
        name: 'guide',
        scopes: scopes as never,
        createdBy: 'guide',
        expiresAt: null,
      },
    });
    return made?.key ?? '';
  };
  const [key, other] = [
    await keyFor(['invoices:read', 'invoices:write', 'customers:read']),
    await keyFor(['quotes:read']),
  ];
  const get = async (path: string, as = key): Promise<Json> =>
    (await fetch(`${server.url}/api/v1${path}`, { headers: { authorization: `Bearer ${as}` } })).json();
  const list = await get('/invoices');
  const ask = async (query: string): Promise<Json> => {
    const answer = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return answer.json();
  };
  const { paths } = await get('/openapi.json');
  const id = String(list.data[0].id);
  const tagNow = async (): Promise<string> =>
    (await fetch(`${server.url}/api/v1/invoices/${id}`, { headers: { authorization: `Bearer ${key}` } })).headers.get(
      'etag',
    ) ?? '';
  const patch = async (body: object, headers: Record<string, string> = {}, at = id): Promise<Patched> => {
    const answer = await fetch(`${server.url}/api/v1/invoices/${at}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: await answer.json(), replayed: answer.headers.has('idempotent-replayed') };
  };
  process.stdout.write(
    `${JSON.stringify({
      faults,
      list,
      one: await get(`/invoices/${String(list.data[0].id)}`),
      found: await get('/invoices?q=inv+2026&status=open&status=paid'),
      nothing: await get('/invoices?status=paid'),
      numbered: await get('/invoices?number=INV-2026-1'),
      unnumbered: await get('/invoices?number=INV-2026'),
      foreign: await get(`/invoices/${String(process.argv[2])}`),
      bad: await get('/invoices?status=lost'),
      due: await Promise.all(['2026-12-25', '2026-12-24'].map((day) => get(`/invoices?due_before=${day}`))),
      least: await Promise.all([12_345, 12_346].map((total) => get(`/invoices?min_total=${String(total)}`))),
      totals: await ask(`{ invoice_totals(group_by: [MONTH], from: "2026-12-01", to: "2027-01-01") {
        data { currency month count total_minor }
      } }`),
      before: await ask('{ invoice_totals(to: "2026-12-24") { data { count } } }'),
      graphql: await ask(`{ invoice(id: "${String(list.data[0].id)}") { number customer { name } } }`),
      refused: await get('/invoices', other),
      ...(await changes(tagNow, patch, { id, url: server.url, key, other })),
      paths: Object.keys(paths as object).filter((path) => path.startsWith('/invoices')),
    })}\n`,
  );
  await server.drain();
  await store.close();
}

interface Patched {
  readonly status: number;
  readonly body: Json;
  readonly replayed: boolean;
}

/** Changes an invoice with the version that was read, and with others. */
async function changes(
  tagNow: () => Promise<string>,
  patch: (body: object, headers?: Record<string, string>, at?: string) => Promise<Patched>,
  { id, url, key, other }: Readonly<Record<'id' | 'url' | 'key' | 'other', string>>,
): Promise<object> {
  const first = await tagNow();
  const changed = await patch({ status: 'paid' }, { 'if-match': first });
  const stale = await patch({ status: 'open' }, { 'if-match': first });
  const unnamed = await patch({ due_on: null });
  const lost = await patch({}, { 'if-match': '*' }, randomUUID());
  const early = await patch({ due_on: '2026-11-20' });
  const unscoped = await patch({}, { authorization: `Bearer ${other}` });
  const query = `mutation($tag: String) { change_invoice(id: "${id}", if_match: $tag, status: void) { status } }`;
  const overGraphql = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables: { tag: await tagNow() } }),
  });
  const read = { 'if-match': await tagNow() };
  const both = await Promise.all(['2027-01-01', '2027-01-02'].map((due_on) => patch({ due_on }, read)));
  const again = { 'if-match': await tagNow(), 'idempotency-key': randomUUID() };
  const [one, two] = [await patch({ status: 'open' }, again), await patch({ status: 'open' }, again)];
  return {
    ...{ changed, stale, unnamed, lost, early, unscoped, overGraphql: await overGraphql.json() },
    writers: both.map(({ status }) => status).sort((a, b) => a - b),
    repeated: [one.status, two.status, two.replayed],
  };
}

void main();
