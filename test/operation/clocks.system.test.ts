import { type ChildProcess } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { type CommandLine, commandLine, finished, firstLine } from '../cli/commandLine';
import { client, readAll } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { startGateway, type TestGateway } from '../support/gateway';

/* Gateways on machines whose clocks are wrong by a day and an hour, next to one whose clock is right. */

const HOUR = 3_600_000;
const CONTROL_DATABASE = `clocks_${randomBytes(6).toString('hex')}`;
const PRELOAD = `--require=${join(__dirname, '..', 'support', 'shiftedClock.cjs')}`;

interface Shifted {
  readonly url: string;
  /** What it printed to stderr so far. */
  readonly said: () => string;
}

let right: TestGateway;
let organisation: Organisation;
const children: ChildProcess[] = [];
const gateways = new Map<string, Shifted>();

function shifted(hours: string): CommandLine {
  return commandLine({ CONTROL_DATABASE, NODE_OPTIONS: PRELOAD, SHIFT_HOURS: hours });
}

async function serve(hours: string): Promise<Shifted> {
  const child = shifted(hours).start(['serve'], { PORT: '0' });
  children.push(child);
  let said = '';
  child.stderr!.on('data', (text: Buffer) => (said += text.toString()));
  return { url: (await firstLine(child)).replace('listening on ', ''), said: () => said };
}

beforeAll(async () => {
  right = await startGateway({ CONTROL_DATABASE });
  organisation = await makeOrganisation(right);
  for (const hours of ['25', '-25']) gateways.set(hours, await serve(hours));
});
afterAll(async () => {
  const ends = children.map(finished);
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(ends);
  await right.stop();
});

describe.each(['25', '-25'])('a gateway whose clock is %s h off', (hours) => {
  const off = (): Shifted => gateways.get(hours)!;

  test.each([
    ['replays an answer that another gateway stored', (): [{ url: string }, { url: string }] => [right, off()]],
    ['stores an answer that another gateway replays', (): [{ url: string }, { url: string }] => [off(), right]],
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
    expect((await client(off(), good.key).get('/me')).status).toBe(200);
    expect((await client(off(), ended.key).get('/me')).status).toBe(401);
  });

  test('reports it in its log and metrics, naming the cluster member', async () => {
    const line = off()
      .said()
      .split('\n')
      .flatMap((text) => (text.includes('ahead_seconds') ? [JSON.parse(text) as Record<string, unknown>] : []));
    expect(line).toEqual([
      expect.objectContaining({ cluster: 'default', machine: expect.stringMatching(/:\d+$/) as unknown, level: 40 }),
    ]);
    expect(Math.abs(Number(line[0]!.ahead_seconds) + Number(hours) * 3600)).toBeLessThan(30);
    const text = await (await fetch(`${off().url}/metrics`)).text();
    const ahead = /^scopegate_cluster_clock_ahead_seconds\{cluster="default"\} (.*)$/m.exec(text)?.[1];
    expect(Math.abs(Number(ahead) + Number(hours) * 3600)).toBeLessThan(30);
  });

  test("key create --expires-in and doctor use the database's clock too", async () => {
    const cli = shifted(hours);
    const made = await finished(
      cli.start([
        ...['key', 'create', '--org', organisation.id, '--name', 'x', '--scopes', 'all'],
        '--expires-in',
        '12h',
        '--json',
      ]),
    );
    const { id } = JSON.parse(made.stdout) as { id: string };
    const { expires_at: end } = (await right.control.apiKeys.find(id))!;
    expect(Math.abs(end!.getTime() - Date.now() - 12 * HOUR)).toBeLessThan(60_000);
    const { code, stdout } = await finished(cli.start(['doctor', '--json']));
    const { checks } = JSON.parse(stdout) as { checks: { name: string; ok: boolean; detail: string; fix: string }[] };
    expect(code).toBe(1);
    expect(checks.filter(({ ok }) => !ok)).toEqual([
      {
        name: 'clocks',
        ok: false,
        detail: expect.stringMatching(
          new RegExp(
            `primary of cluster default, is (89|90)\\d{3} s ${hours === '25' ? 'behind' : 'ahead of'} this machine \\(.+\\)`,
          ),
        ) as unknown,
        fix: expect.stringContaining('NTP') as unknown,
      },
    ]);
  });
});

test('an accurate clock is not reported', async () => {
  expect(JSON.stringify(right.logs)).not.toContain('ahead_seconds');
  const { checks } = await commandLine({ CONTROL_DATABASE }).json<{ checks: { name: string; ok: boolean }[] }>(
    'doctor',
  );
  expect(checks).toContainEqual(expect.objectContaining({ name: 'clocks', ok: true }));
});
