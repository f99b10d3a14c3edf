import { createPlans } from '../../src/auth/plans';
import { readConfig } from '../../src/config';
import { faultsOf } from '../support/configFaults';
import { plansFile } from '../support/plansFile';

const api = { api: true };
const plansOf = (content: unknown, more: Record<string, string> = {}) =>
  createPlans(readConfig({ PLANS_FILE: plansFile(content), ...more }));

test('without a file there are three plans, with the limits of the variables', () => {
  const plans = createPlans(readConfig({ MAX_KEYS: '7', MAX_ORGANISATION_BYTES: '2000000' }));
  const limits = {
    points_per_minute: 600,
    organisation_points_per_minute: 6000,
    active_keys: 7,
    webhook_endpoints: 20,
  };
  expect(plans.all).toEqual([
    { name: 'starter', api: false, ...limits, bytes: 2_000_000 },
    { name: 'integrations', api: true, ...limits, bytes: 2_000_000 },
    { name: 'enterprise', api: true, ...limits, bytes: 2_000_000 },
  ]);
  expect(plans.defaultName).toBe('integrations');
  expect(plans.settingOfActiveKeys({ plan: 'starter' })).toBe('MAX_KEYS');
});

test('a plan of the file has its own limits, and those of the variables for what it lacks', () => {
  const own = {
    points_per_minute: 50,
    organisation_points_per_minute: 60,
    active_keys: 2,
    webhook_endpoints: 0,
    bytes: null,
  };
  const content = {
    plans: { free: { api: false }, tiny: { api: true, points_per_minute: 9 }, full: { ...api, ...own } },
    default: 'tiny',
  };
  const plans = plansOf(content, { MAX_ORGANISATION_BYTES: '2000000' });
  expect(plans.of({ plan: 'full' })).toEqual({ name: 'full', api: true, ...own });
  expect(plans.of({ plan: 'tiny' })).toMatchObject({
    organisation_points_per_minute: 90,
    active_keys: 100,
    bytes: 2_000_000,
  });
  expect(plansOf(content, { RATE_LIMIT_ORGANISATION: '70' }).of({ plan: 'tiny' }).organisation_points_per_minute).toBe(
    70,
  );
  expect(plans.all.map(({ name }) => name)).toEqual(['free', 'tiny', 'full']);
  expect(plans.settingOfActiveKeys({ plan: 'full' })).toBe('active_keys of full in PLANS_FILE');
});

const namesOf = (length: number): string[] => Array.from({ length }, (_, at) => `p_${String(at)}`);

test('a default may be any plan of the file, and the names any of a-z, 0-9 and _', () => {
  const plans = plansOf({ plans: Object.fromEntries(namesOf(50).map((name) => [name, api])), default: 'p_49' });
  expect([plans.defaultName, plans.all.length]).toEqual(['p_49', 50]);
});

/** A file with one plan. */
const only = (a: unknown): object => ({ plans: { a }, default: 'a' });

test.each<[RegExp, unknown]>([
  [/is not JSON: /, '{'],
  [/plans\.json: must be an object with plans and default/, '[]'],
  [/is larger than 65536 bytes/, 'x'.repeat(64 * 1024 + 1)],
  [/plans\.json: default: must be the name of one of plans/, { plans: { a: api } }],
  [/: default: must be one of a/, { plans: { a: api }, default: 'b' }],
  [/: default: must be one of a/, { plans: { a: api }, default: 'toString' }],
  [/: plans: must have 1 to 50 plans/, { plans: {}, default: 'a' }],
  [/: plans: must be an object with a member for each plan/, { plans: [], default: 'a' }],
  [/1 to 50/, { plans: Object.fromEntries(namesOf(51).map((name) => [name, api])), default: 'p_0' }],
  [/: plans: Gold: must be named by 1 to 40 of a-z, 0-9 and _/, { plans: { Gold: api }, default: 'Gold' }],
  [/: plans: a: must be an object/, only(true)],
  [/: plans: a: api: must be true or false/, only({})],
  [/: plans: a: has keys, which is no setting/, only({ ...api, keys: 1 })],
  [/a: points_per_minute: must be a whole number from 1 to 1000000000/, only({ ...api, points_per_minute: 0 })],
  [/a: organisation_points_per_minute: must be a whole/, only({ ...api, organisation_points_per_minute: 1.5 })],
  [/a: active_keys: must be a whole number from 1 to 1000000/, only({ ...api, active_keys: '5' })],
  [/a: webhook_endpoints: must be a whole number from 0 to 100/, only({ ...api, webhook_endpoints: 101 })],
  [/a: bytes: must be a whole number from 1048576 to 999999999999999, or null/, only({ ...api, bytes: 5 })],
])('a file is refused: %s', (fault, content) => {
  const message = faultsOf({ PLANS_FILE: plansFile(content) });
  expect(message).toMatch(/^invalid environment:\n {2}PLANS_FILE: /);
  expect(message).toMatch(fault);
});

test('every fault of the file is named, and a file that cannot be read', () => {
  const message = faultsOf({
    PLANS_FILE: plansFile({ plans: { a: { api: 1, bytes: 1 }, b: { active_keys: 0 } }, default: 'a' }),
  });
  expect(message.match(/PLANS_FILE: /g)).toHaveLength(4);
  expect(faultsOf({ PLANS_FILE: '/nowhere/plans.json' })).toContain('PLANS_FILE: cannot be read: ENOENT');
});
