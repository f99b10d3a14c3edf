import { client, type Client } from '../support/client';
import { ask, FACES, query, REST } from '../support/faces';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

const BUDGET = 40;
let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startGateway({ RATE_LIMIT_PER_MINUTE: String(BUDGET) });
});
afterAll(() => gateway.stop());

describe.each(FACES)('me in $name', (face) => {
  test('returns the organisation, scopes and remaining rate limit of the key', async () => {
    const organisation = await makeOrganisation(gateway, { name: 'Mill & Söhne', plan: 'enterprise' });
    const expiresAt = new Date(Date.now() + 86_400_000);
    const { id, key } = await makeKey(gateway, organisation, {
      name: 'ERP sync',
      scopes: ['quotes:read', 'products:write'],
      expiresAt,
    });
    const me = await ask(face, client(gateway, key), 'me');
    expect(me).toEqual({
      organisation: { id: organisation.id, name: 'Mill & Söhne', plan: 'enterprise' },
      key: {
        id,
        name: 'ERP sync',
        prefix: expect.any(String),
        scopes: expect.any(Array),
        expires_at: expiresAt.toISOString(),
      },
      organisation_rate_limit: { limit: 10 * BUDGET, remaining: 10 * BUDGET - 1, reset_at: expect.any(String) },
      rate_limit: { limit: BUDGET, remaining: BUDGET - 1, reset_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    expect(me.key.scopes.sort()).toEqual(['products:write', 'quotes:read']);
    const untilReset = Date.parse(me.rate_limit.reset_at) - Date.now();
    expect(untilReset).toBeGreaterThan(0);
    expect(untilReset).toBeLessThanOrEqual(60_000);
  });

  test("shows the key's prefix and nothing of its secret", async () => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway));
    const { key: shown } = await ask(face, client(gateway, key), 'me');
    expect(key.startsWith(shown.prefix)).toBe(true);
    expect(shown.prefix).toMatch(/^svc_live_\w+$/);
    expect(shown.prefix.length).toBeLessThan(key.length / 2);
  });

  test('returns null for a key that never expires', async () => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway));
    expect((await ask(face, client(gateway, key), 'me')).key.expires_at).toBeNull();
  });

  test('works for a key without other permissions', async () => {
    const { key } = await makeKey(gateway, await makeOrganisation(gateway), { scopes: ['quotes:write'] });
    expect((await ask(face, client(gateway, key), 'me')).key.scopes).toEqual(['quotes:write']);
  });
});

describe('the rate limit that me returns', () => {
  let caller: Client;
  beforeEach(async () => {
    caller = client(gateway, (await makeKey(gateway, await makeOrganisation(gateway))).key);
  });

  test('decreases by one per REST request and per root field of a GraphQL request', async () => {
    const remaining = async (): Promise<number> => (await ask(REST, caller, 'me')).rate_limit.remaining as number;
    const before = await remaining();
    expect(await remaining()).toBe(before - 1);
    await query(caller, '{ me { key { id } } again: me { key { id } } products { has_more } }');
    expect(await remaining()).toBe(before - 5);
  });

  test('matches the headers of the same answer', async () => {
    const { body, headers } = await caller.get('/me');
    expect(headers.get('x-ratelimit-limit')).toBe(String(body.rate_limit.limit));
    expect(headers.get('x-ratelimit-remaining')).toBe(String(body.rate_limit.remaining));
  });
});

test("me returns the organisation's current plan, not the one it had when the key was created", async () => {
  const organisation = await makeOrganisation(gateway, { plan: 'integrations' });
  const caller = client(gateway, (await makeKey(gateway, organisation)).key);
  await gateway.control.organisations.setPlan(organisation.id, 'enterprise');
  expect((await ask(REST, caller, 'me')).organisation.plan).toBe('enterprise');
});
