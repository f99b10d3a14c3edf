import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { McpAccess, Organisation } from '../../src/auth/principal';
import { allScopes, type Scope } from '../../src/auth/scopes';
import { recordKinds } from '../../src/resources';
import type { ImportRecord } from '../../src/stored/records';
import { client, type Client } from './client';
import type { TestGateway } from './gateway';
import { invoicesFor } from './ownRows';

export function makeOrganisation(
  gateway: TestGateway,
  input: { plan?: string; name?: string } = {},
): Promise<Organisation> {
  return gateway.control.organisations.create({ name: 'Test', plan: 'integrations', currency: 'USD', ...input });
}

interface KeyInput {
  readonly scopes?: readonly Scope[];
  readonly expiresAt?: Date;
  readonly name?: string;
  readonly mcp?: McpAccess;
  readonly allowedRanges?: readonly string[];
  readonly customerIds?: readonly string[];
}

/** Creates a key and returns its text. */
export async function makeKey(
  gateway: TestGateway,
  organisation: Organisation,
  input: KeyInput = {},
): Promise<{ id: string; key: string }> {
  const made = await gateway.control.apiKeys.create({
    organisationId: organisation.id,
    name: input.name ?? 'test',
    scopes: input.scopes ?? allScopes(),
    created_by: 'test',
    expires_at: input.expiresAt ?? null,
    mcp: input.mcp ?? 'write',
    ...(input.allowedRanges && { allowed_ranges: input.allowedRanges }),
    customerIds: input.customerIds,
  });
  return { id: made!.document._id, key: made!.key };
}

/** A caller with a new key, of a new organisation unless one is given. */
export async function callerOf(
  gateway: TestGateway,
  organisation: Organisation | Promise<Organisation> = makeOrganisation(gateway),
  input?: KeyInput,
): Promise<Client> {
  return client(gateway, (await makeKey(gateway, await organisation, input)).key);
}

const NORTHWIND = join(__dirname, '..', '..', 'examples', 'northwind');

/** The records of one of Northwind's files. */
export function northwind(file: string): ImportRecord[] {
  if (file === 'invoices') return invoicesFor(northwind('orders'));
  const lines = readFileSync(join(NORTHWIND, `${file}.ndjson`), 'utf8')
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as ImportRecord);
}

/** Stores records as `import` would, by file. */
export async function store(
  gateway: TestGateway,
  organisation: Organisation,
  records: Readonly<Record<string, readonly ImportRecord[]>>,
): Promise<void> {
  const data = gateway.databases.organisationData(organisation);
  for (const kind of recordKinds) {
    const rows = records[kind.file] ?? [];
    for (let start = 0; start < rows.length; start += 500) {
      const batch = rows.slice(start, start + 500);
      const options = { writes: kind.writes, rows: batch.length };
      await data.prepare(kind.writes);
      await data.transaction((session) => kind.store(data, batch, session), options);
    }
  }
}

/** Creates an organisation with these records, by file. */
export async function makeStored(
  gateway: TestGateway,
  records: Parameters<typeof store>[2],
  input?: Parameters<typeof makeOrganisation>[1],
): Promise<Organisation> {
  const organisation = await makeOrganisation(gateway, input);
  await store(gateway, organisation, records);
  return organisation;
}

/** Creates an organisation with the Northwind data, or the first `rows` of each file. */
export function makeNorthwind(gateway: TestGateway, rows = Infinity): Promise<Organisation> {
  const files = recordKinds.map(({ file }) => [file, northwind(file).slice(0, rows)] as const);
  return makeStored(gateway, Object.fromEntries(files), { name: 'Northwind Traders' });
}
