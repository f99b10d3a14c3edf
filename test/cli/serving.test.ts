import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CommandLine, commandLine, finished, firstLine } from './commandLine';

const cli = commandLine();

interface Demo {
  readonly url: string;
  readonly key: string;
  readonly organisation: { readonly id: string; readonly name: string; readonly plan: string };
  readonly sandbox: string;
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'serve prints one line when it is ready, and exits with 0 on %s',
  async (signal) => {
    const child = cli.start(['serve'], { PORT: '0', LOG_LEVEL: 'warn' });
    const end = finished(child);
    const line = await firstLine(child);
    expect(line).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${line.replace('listening on ', '')}/readyz`)).status).toBe(200);
    child.kill(signal);
    expect(await end).toMatchObject({ code: 0, stdout: `${line}\n` });
  },
);

test('serve on a port in use exits with 1 and a one-line error', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await finished(cli.start(['serve'], { PORT: String(port) }));
  other.close();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^error: port ${String(port)} .*set PORT`, 'm'));
  expect(stderr).not.toMatch(/^\s+at /m);
});

describe('demo', () => {
  let dataDir: string;
  let own: CommandLine;
  beforeEach(async () => {
    own = commandLine();
    dataDir = await mkdtemp(join(tmpdir(), 'scopegate-demo-'));
  });
  afterEach(() => rm(dataDir, { recursive: true }));

  /** Starts a demo, reads products with its key, and stops it. */
  async function demo(more: Record<string, string> = {}): Promise<Demo & { readonly said: string }> {
    const child = own.start(['demo', '--port', '0', '--json'], { DATA_DIR: dataDir, ...more });
    const end = finished(child);
    let answer: Demo;
    try {
      answer = JSON.parse(await firstLine(child)) as Demo;
      const response = await fetch(`${answer.url}/api/v1/products?q=chai`, {
        headers: { authorization: `Bearer ${answer.key}` },
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ data: [{ name: 'Chai' }] });
    } finally {
      child.kill('SIGTERM');
      expect(await end).toMatchObject({ code: 0 });
    }
    return { ...answer, said: (await end).stderr };
  }

  const keysOf = async ({ organisation: { id } }: Demo): Promise<(readonly [string, string])[]> => {
    const keys = await own.json<{ last_four: string; state: string }[]>('key', 'list', '--org', id);
    return keys.map(({ last_four: lastFour, state }) => [lastFour, state]);
  };

  const NEW_KEY = 'created a new demo key: the previous one no longer works';

  test('loads its data once and prints the same key at each start, from a file only its owner can read', async () => {
    const [first, second] = [await demo(), await demo()];
    expect(second.organisation).toEqual({ ...first.organisation, name: 'Northwind Traders', plan: 'integrations' });
    expect(second.sandbox).toBe(`${second.url}/graphql`);
    expect(second.key).toBe(first.key);
    expect(first.said + second.said).not.toContain('new demo key');
    expect(await keysOf(first)).toEqual([[first.key.slice(-4), 'active']]);
    const file = join(dataDir, 'demo-key');
    expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual([`${first.key}\n`, 0o600]);
  });

  test('reports when it creates a new key because the previous one no longer works, and revokes none', async () => {
    const first = await demo();
    const [{ id }] = await own.json<[{ id: string }]>('key', 'list', '--org', first.organisation.id);
    await own.run('key', 'revoke', id);
    const second = await demo();
    expect(second.said).toContain(NEW_KEY);
    // with another pepper the key is invalid
    const third = await demo({ KEY_PEPPER: 'another' });
    expect(third.said).toContain(NEW_KEY);
    await writeFile(join(dataDir, 'demo-key'), 'half of a ke', { mode: 0o644 });
    const fourth = await demo();
    expect(fourth.said).toContain(NEW_KEY);
    expect((await stat(join(dataDir, 'demo-key'))).mode & 0o777).toBe(0o600);
    const made = [first, second, third, fourth].map(({ key }) => key.slice(-4));
    expect(await keysOf(first)).toEqual(made.map((lastFour, at) => [lastFour, at === 0 ? 'revoked' : 'active']));
  });

  test('reports that the previous key still works if its file is missing', async () => {
    const first = await demo();
    await rm(join(dataDir, 'demo-key'));
    const second = await demo();
    expect(second.said).toMatch(/created a new demo key: the previous one is not in .*demo-key; it stays valid until/);
    expect((await keysOf(first)).map(([, state]) => state)).toEqual(['active', 'active']);
  });
});
