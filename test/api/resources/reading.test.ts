import { client } from '../../support/client';
import { ask, askAll, FACES, query, REST } from '../../support/faces';
import { callerOf, makeKey, makeNorthwind, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { operations, RELATIONS } from '../../support/operations';
import { HAS_OWN_SCHEMA } from '../../support/ownRows';
import { expectedRows, names, northwindRecords, RESOURCES, selection, toItem, toRow } from '../../support/resources';

const records = northwindRecords();

const gateway = served();
const caller = late(() => callerOf(gateway, makeNorthwind(gateway)));

const COUNTS: Partial<Record<string, number>> = { quotes: 913, orders: 830, customers: 91, products: 77, requests: 42 };

/** The relations of a type to other resources. */
function guarded(type: string): string[] {
  return RELATIONS.filter(({ parent }) => parent === type).map(({ name }) => name);
}

/** The entity tag, if a write takes it. */
function versionOf(list: string): string[] {
  return operations.some(({ takesIfMatch, rest }) => takesIfMatch && rest?.path === `/${list}/:id`) ? ['etag'] : [];
}

describe.each(RESOURCES)('reading $list', (resource) => {
  const { list, one, members, nested } = resource;
  const some = records[list].filter((_record, at) => at % 40 === 0);

  test('REST lists every row of the file, newest first, with all members except lines', async () => {
    const rows = await askAll(REST, caller, list);
    expect(rows).toHaveLength(COUNTS[list] ?? records[list].length);
    expect(rows).toEqual(expectedRows(records[list]).map(toItem));
  });

  test('GraphQL lists the same rows, with their lines', async () => {
    const document = `query($cursor: String) { ${list}(limit: 100, cursor: $cursor) { data { ${selection(resource)} } next_cursor } }`;
    const rows: unknown[] = [];
    for (let cursor: unknown; cursor !== null;) {
      const { [list]: page } = await query(caller, document, { cursor });
      rows.push(...page.data);
      cursor = page.next_cursor;
    }
    expect(rows).toEqual(expectedRows(records[list]));
  });

  test.each(FACES)('$name reads an object by id, in any case, as it is in the file', async (face) => {
    for (const record of some)
      for (const id of [record.id, record.id.toUpperCase()])
        expect(await ask(face, caller, one, { id })).toEqual(toRow(record));
  });

  test('an object has exactly the members of the contract, at every depth', async () => {
    const row = await ask(REST, caller, one, { id: some[0]!.id });
    expect(Object.keys(row).sort()).toEqual(names(members));
    for (const [member, inner] of Object.entries(nested)) {
      const values = [row[member]].flat().filter((value) => value !== null);
      for (const value of values) expect(Object.keys(value).sort()).toEqual(names(inner));
    }
  });

  test('GraphQL has only the fields of the contract and relations', async () => {
    const type = one.charAt(0).toUpperCase() + one.slice(1);
    const { __type } = await query(caller, `{ __type(name: "${type}") { fields { name } } }`);
    const fields = __type.fields.map((field: { name: string }) => field.name);
    const relations: Record<string, string[]> = {
      products: [],
      requests: ['customer'],
      quotes: ['customer'],
      orders: ['customer', 'quote'],
      customers: ['quotes', 'orders', 'requests', ...(HAS_OWN_SCHEMA ? ['invoices'] : [])],
    };
    expect(fields.sort()).toEqual(
      [
        ...names(members),
        ...(relations[list] ?? guarded(type)),
        ...versionOf(list),
        ...(members.includes('metadata') ? ['metadata_value'] : []),
      ].sort(),
    );
  });

  test.each(FACES)('a page in $name has only data, has_more and next_cursor', async (face) => {
    const page = await ask(face, caller, list, { limit: 1 });
    expect(Object.keys(page).sort()).toEqual(['data', 'has_more', 'next_cursor']);
  });
});

/** A key has so many in tests. */
const POINTS = 1_000_000;

describe.each(FACES)('me in $name', (face) => {
  test('returns the organisation, scopes and remaining rate limit of the key', async () => {
    const organisation = await makeOrganisation(gateway, { name: 'Mill & Söhne', plan: 'enterprise' });
    const expiresAt = new Date(Date.now() + 86_400_000);
    const { id, key } = await makeKey(gateway, organisation, {
      name: 'ERP sync',
      scopes: ['quotes:read', 'products:write'],
      mcp: 'off',
      expiresAt,
    });
    const me = await ask(face, client(gateway, key), 'me');
    expect(me).toEqual({
      mode: 'live',
      organisation: {
        id: organisation.id,
        name: 'Mill & Söhne',
        plan: 'enterprise',
        limits: { active_keys: 100, webhook_endpoints: 20, bytes: null },
      },
      key: {
        id,
        name: 'ERP sync',
        prefix: expect.any(String),
        scopes: expect.any(Array),
        expires_at: expiresAt.toISOString(),
        mcp: 'off',
        customer_ids: null,
      },
      organisation_rate_limit: { limit: 10 * POINTS, remaining: 10 * POINTS - 1, reset_at: expect.any(String) },
      rate_limit: { limit: POINTS, remaining: POINTS - 1, reset_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    expect(me.key.scopes.sort()).toEqual(['products:write', 'quotes:read']);
    const untilReset = Date.parse(me.rate_limit.reset_at) - Date.now();
    expect(untilReset).toBeGreaterThan(0);
    expect(untilReset).toBeLessThanOrEqual(60_000);
  });

  test("shows the key's prefix and nothing of its secret, and null for its expiry if it has none", async () => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway));
    const { key: shown } = await ask(face, client(gateway, key), 'me');
    expect(shown.expires_at).toBeNull();
    expect(key.startsWith(shown.prefix)).toBe(true);
    expect(shown.prefix).toMatch(/^svc_live_\w+$/);
    expect(shown.prefix.length).toBeLessThan(key.length / 2);
  });
});

test("me returns the organisation's current plan, not the one it had when the key was created", async () => {
  const organisation = await makeOrganisation(gateway, { plan: 'integrations' });
  const caller = await callerOf(gateway, organisation);
  await gateway.control.organisations.setPlan(organisation.id, 'enterprise');
  expect((await ask(REST, caller, 'me')).organisation.plan).toBe('enterprise');
});
