import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { signIn } from '../admin/settings/people';
import { checkOf, type CommandLine, commandLine, type Diagnosis, serve, type Served } from '../cli/commandLine';
import { client, readAll } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { late, metric, served } from '../support/gateway';
import { allowed, statusWith } from '../support/oauthApp';

/* Gateways on machines whose clocks are wrong by a day and an hour, next to one whose clock is right. */

const HOUR = 3_600_000;
const CONTROL_DATABASE = `clocks_${randomBytes(6).toString('hex')}`;
const PRELOAD = `--require=${join(__dirname, '../support/shiftedClock.cjs')}`;

const right = served({ CONTROL_DATABASE });
const organisation: Organisation = late(() => makeOrganisation(right));

function shifted(hours: string): CommandLine {
  return commandLine({ CONTROL_DATABASE, NODE_OPTIONS: PRELOAD, SHIFT_HOURS: hours });
}

describe.each(['25', '-25'])('a gateway whose clock is %s h off', (hours) => {
  const off = late(() => serve(shifted(hours)));
  afterAll(() => off.stop());

  test.each([
    ['replays an answer that another gateway stored', (): [{ url: string }, { url: string }] => [right, off]],
    ['stores an answer that another gateway replays', (): [{ url: string }, { url: string }] => [off, right]],
  ])('%s', async (_title, places) => {
    const [first, second] = places();
    const { key } = await makeKey(right, organisation);
    const [text, header] = [`once ${randomUUID()}`, { 'idempotency-key': randomUUID() }];
    const one = await client(first, key).post('/requests', { text }, header);
    const two = await client(second, key).post('/requests', { text }, header);
    expect([one.status, two.status, two.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true']);
    expect(two.text).toBe(one.text);
    const all = await readAll(client(right, key), '/requests');
    expect(all.filter(({ subject }) => subject === text)).toHaveLength(1);
  });

  test('accepts a key until it expires, and not afterwards', async () => {
    const good = await makeKey(right, organisation, { expiresAt: new Date(Date.now() + 12 * HOUR) });
    const ended = await makeKey(right, organisation, { expiresAt: new Date(Date.now() - 12 * HOUR) });
    expect((await client(off, good.key).get('/me')).status).toBe(200);
    expect((await client(off, ended.key).get('/me')).status).toBe(401);
  });

  test("takes an app's code within its minute, for a token of an hour", async () => {
    const admin = await signIn(right, organisation);
    const { exchange } = await allowed(right, admin);
    const { status, body } = await exchange({}, off);
    expect(status).toBe(200);
    expect(Math.abs(body.expires_in - 3600)).toBeLessThan(60);
    expect(await statusWith(off, body.access_token)).toBe(200);
  });

  test('reports it in its log and metrics, naming the server', async () => {
    const line = off
      .stderr()
      .split('\n')
      .flatMap((text) => (text.includes('ahead_seconds') ? [JSON.parse(text) as Record<string, unknown>] : []));
    expect(line).toEqual([expect.objectContaining({ machine: expect.stringMatching(/:\d+$/) as unknown, level: 40 })]);
    expect(Math.abs(Number(line[0]!.ahead_seconds) + Number(hours) * 3600)).toBeLessThan(30);
    const ahead = await metric(off, 'scopegate_database_clock_ahead_seconds');
    expect(Math.abs(ahead + Number(hours) * 3600)).toBeLessThan(30);
  });

  test("key create --expires-in and doctor use the database's clock too", async () => {
    const cli = shifted(hours);
    const life = ['--name', 'x', '--scopes', 'all', '--expires-in', '12h'];
    const made = await cli.spawned('key', 'create', '--org', organisation.id, ...life, '--json');
    const { id } = JSON.parse(made.stdout) as { id: string };
    const { expires_at: end } = (await right.control.apiKeys.find(id))!;
    expect(Math.abs(end!.getTime() - Date.now() - 12 * HOUR)).toBeLessThan(60_000);
    const which = hours === '25' ? ['--name', 'A'] : ['--sandbox-of', organisation.id];
    const created = JSON.parse((await cli.spawned('org', 'create', ...which, '--json')).stdout) as Organisation;
    const { created_at: begun } = (await right.control.organisations.find(created.id))!;
    const [event] = await right.control.audit.list({ organisationId: created.id, limit: 1 });
    for (const at of [begun, event!.at]) expect(Math.abs(at.getTime() - Date.now())).toBeLessThan(60_000);
    const { code, stdout } = await cli.spawned('doctor', '--json');
    expect(code).toBe(1);
    const way = hours === '25' ? 'behind' : 'ahead of';
    expect((JSON.parse(stdout) as Diagnosis).checks.filter(({ ok }) => !ok)).toEqual([
      {
        name: 'clocks',
        ok: false,
        fix: expect.stringContaining('NTP') as unknown,
        detail: expect.stringMatching(`is (89|90)\\d{3} s ${way} this machine \\(.+\\)`) as unknown,
      },
    ]);
  });

  test("counts and logs requests at the database's time", async () => {
    const counted = async (gateway: Served): Promise<string> => {
      const { id, key } = await makeKey(right, organisation);
      expect((await client(gateway, key).get('/products')).status).toBe(200);
      // which writes both, if the database answers within 3 s
      const { stderr } = await gateway.stop();
      return stderr.includes('were not written') ? counted(await serve(shifted(hours))) : id;
    };
    const id = await counted(off);
    expect(await right.control.usage.read(id, 'last_24h')).toMatchObject({ requests: 1 });
    const [logged] = await right.control.requests.list({ organisationId: organisation.id, key_id: id }, 1);
    expect(Math.abs(logged!.at.getTime() - Date.now())).toBeLessThan(60_000);
  });
});

test('an accurate clock is not reported', async () => {
  expect(JSON.stringify(right.logs)).not.toContain('ahead_seconds');
  expect(await checkOf(commandLine({ CONTROL_DATABASE }), 'clocks')).toMatchObject({ ok: true });
});
