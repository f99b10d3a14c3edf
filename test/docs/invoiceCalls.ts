/*
 * Run inside the copy made by contributing.test.ts: imports its invoices, serves and calls them, and prints the results as
 * JSON. The modules imported are the copy's.
 */
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
  const [key, other] = [await keyFor(['invoices:read', 'customers:read']), await keyFor(['quotes:read'])];
  const get = async (path: string, as = key): Promise<Json> =>
    (await fetch(`${server.url}/api/v1${path}`, { headers: { authorization: `Bearer ${as}` } })).json();
  const list = await get('/invoices');
  const graphql = await fetch(`${server.url}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: `{ invoice(id: "${String(list.data[0].id)}") { number customer { name } } }` }),
  });
  const { paths } = await get('/openapi.json');
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
      graphql: await graphql.json(),
      refused: await get('/invoices', other),
      paths: Object.keys(paths as object).filter((path) => path.startsWith('/invoices')),
    })}\n`,
  );
  await server.drain();
  await store.close();
}

void main();
