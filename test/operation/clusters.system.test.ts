import type { Organisation } from '../../src/auth/principal';
import { commandLine } from '../cli/commandLine';
import { eventually } from '../http/eventually';
import { raw, type RawAnswer } from '../http/raw';
import { openTunnel } from '../http/tunnel';
import { makeKey, makeOrganisation } from '../support/factories';
import { late, metric, servedBy, startGateway } from '../support/gateway';
import { startDatabase } from './database';

/* One gateway and two clusters, each on its own server: a failure of one does not affect the other's organisations. */

/** Milliseconds; a slow machine needs more than the promised 2.6 s, and the driver's own timeout is 30 s. */
const SOON = 20_000;

interface Tenant {
  readonly organisation: Organisation;
  readonly key: string;
}

const eu = late(startDatabase);
const way = late(() => openTunnel(eu.uri));
const environment = () => ({ MONGODB_CLUSTERS: `eu=${way.uri}`, CONTROL_DATABASE: 'scopegate_clusters' });
const gateway = servedBy(() => startGateway(environment()));
const here = late(() => tenant('default'));
const there = late(() => tenant('eu'));
afterAll(async () => {
  await way.cut().catch(() => undefined);
  await eu.stop();
});

async function tenant(cluster: string): Promise<Tenant> {
  const organisation = await makeOrganisation(gateway, { cluster });
  return { organisation, key: (await makeKey(gateway, organisation)).key };
}

function read({ key }: Tenant, { url } = gateway): Promise<RawAnswer> {
  return raw(url, '/api/v1/products', { headers: { authorization: `Bearer ${key}` } });
}

async function statusOf(one: Tenant, of = gateway): Promise<number> {
  return (await read(one, of)).status;
}

async function readiness(): Promise<unknown> {
  return JSON.parse((await raw(gateway.url, '/readyz', {})).text);
}

const isUp = (cluster: string): Promise<number> => metric(gateway, `scopegate_cluster_up{cluster="${cluster}"}`);

const ALL_THERE = { status: 'ok', checks: { database: 'ok', limiter: 'ok', clusters: { eu: 'ok' } } };
const EU_AWAY = { status: 'degraded', checks: { database: 'ok', limiter: 'ok', clusters: { eu: 'unavailable' } } };

describe.each<[string, () => Promise<void> | void, () => Promise<void> | void]>([
  [
    'hangs',
    () => {
      eu.hold();
    },
    () => {
      eu.release();
    },
  ],
  ['is down', () => way.cut(), () => way.restore()],
])('while one cluster %s', (_what, begin, end) => {
  let cold: Tenant;
  let doomed: Organisation;

  beforeAll(async () => {
    cold = await tenant('eu');
    doomed = await makeOrganisation(gateway, { cluster: 'eu' });
    expect([await statusOf(here), await statusOf(there)]).toEqual([200, 200]);
    expect(await readiness()).toEqual(ALL_THERE);
    await begin();
  });
  afterAll(async () => {
    await end();
    await eventually(async () => (await statusOf(there)) === 200 && (await statusOf(cold)) === 200);
    expect(await readiness()).toEqual(ALL_THERE);
    expect(await isUp('eu')).toBe(1);
    await eventually(async () => (await gateway.control.organisations.find(doomed.id)) === undefined, 60_000);
  });

  test('its organisations get 503 soon, then at once; those of the other cluster are served', async () => {
    const started = performance.now();
    const [first, other] = await Promise.all([read(there), read(here)]);
    expect(performance.now() - started).toBeLessThan(SOON);
    expect(first.status).toBe(503);
    expect(first.text).toContain('"code":"unavailable"');
    expect(Number(first.headers['retry-after'])).toBeGreaterThan(0);
    expect(other.status).toBe(200);
    const requests = gateway.databases.pools().find(({ cluster }) => cluster === 'eu')!.pending;
    const refusals = await Promise.all(Array.from({ length: 300 }, () => statusOf(there)));
    expect(new Set(refusals)).toEqual(new Set([503]));
    // none of them waits for a connection
    expect(gateway.databases.pools().find(({ cluster }) => cluster === 'eu')!.pending).toBeLessThanOrEqual(requests);
    expect(await statusOf(here)).toBe(200);
  });

  test('an organisation not used since startup gets the same error', async () => {
    expect(await statusOf(cold)).toBe(503);
  });

  test('/readyz, a metric and the log name it', async () => {
    expect(await readiness()).toEqual(EU_AWAY);
    expect((await raw(gateway.url, '/readyz', {})).status).toBe(200);
    expect([await isUp('eu'), await isUp('default')]).toEqual([0, 1]);
    expect(gateway.logs).toContainEqual(expect.objectContaining({ cluster: 'eu', database: 'unavailable' }));
  });

  test('new organisations are placed on the other cluster, though it has more of them', async () => {
    for (let at = 0; at < 4; at += 1) await makeOrganisation(gateway, { cluster: 'default' });
    expect(await gateway.control.placement.choose(undefined)).toBe('default');
  });

  test('the erasure of one of its organisations has begun, says for which cluster it waits, and is done once that is back', async () => {
    const { jobs, organisations } = gateway.control;
    const asked = { kind: 'erasure', organisationId: doomed.id, to: null } as const;
    const job = await jobs.ask(asked, { who: 'operator:billing', from: 'here' });
    expect((await organisations.find(doomed.id))?.state).toBe('erasing');
    const error = await eventually(async () => (await jobs.find(job!._id))?.error ?? undefined, SOON);
    expect(error).toMatch(/^cluster eu: /);
  });

  test('a gateway that starts serves the other cluster, and uses this one when it recovers', async () => {
    const second = await startGateway(environment());
    try {
      expect([await statusOf(here, second), await statusOf(there, second)]).toEqual([200, 503]);
      await end();
      await eventually(async () => (await statusOf(there, second)) === 200);
    } finally {
      await begin();
      await second.stop();
    }
  });

  test('commands that do not need it work, and those that do name it', async () => {
    const cli = commandLine(environment());
    const { id } = await makeKey(gateway, here.organisation);
    for (const command of [
      ['org', 'list'],
      ['audit'],
      ['key', 'list', '--org', there.organisation.id],
      ['key', 'create', '--org', there.organisation.id, '--name', 'new', '--scopes', 'all'],
      ['key', 'revoke', id],
    ]) {
      expect(await cli.run(...command)).toMatchObject({ code: 0 });
    }
    const doctor = await cli.run('doctor', '--json');
    expect(doctor.code).toBe(1);
    const failed = (JSON.parse(doctor.stdout) as { checks: { name: string; ok: boolean }[] }).checks.filter(
      ({ ok }) => !ok,
    );
    expect(failed.map(({ name }) => name)).toEqual(['cluster eu', 'indexes on cluster eu']);
    const refused = await cli.failed(1, 'org', 'create', '--name', 'Far', '--cluster', 'eu');
    expect(refused).toContain('cluster eu is not responding');
  });
});

test('while both respond, doctor reports no problem, and checks the organisations of both', async () => {
  const { code, stdout } = await commandLine(environment()).run('doctor', '--json');
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('"cluster eu"') as unknown });
  const { checks } = JSON.parse(stdout) as { checks: { name: string; detail: string }[] };
  const count = await gateway.control.organisations.count();
  const indexes = checks.find(({ name }) => name === 'indexes');
  expect(indexes!.detail).toContain(`${String(count)} organisations have every index`);
});
