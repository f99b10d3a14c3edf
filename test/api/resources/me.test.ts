import { client } from '../../support/client';
import { ask, FACES, REST } from '../../support/faces';
import { callerOf, makeKey, makeOrganisation } from '../../support/factories';
import { served } from '../../support/gateway';

const BUDGET = 40;

const gateway = served({ RATE_LIMIT_PER_MINUTE: String(BUDGET) });

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
      organisation_rate_limit: { limit: 10 * BUDGET, remaining: 10 * BUDGET - 1, reset_at: expect.any(String) },
      rate_limit: { limit: BUDGET, remaining: BUDGET - 1, reset_at: expect.stringMatching(/^\d{4}-.*Z$/) },
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
