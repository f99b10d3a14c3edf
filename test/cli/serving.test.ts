import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { commandLine, finished, firstLine } from './commandLine';

const cli = commandLine();

interface Demo {
  readonly url: string;
  readonly key: string;
  readonly organisation: { readonly id: string; readonly name: string; readonly plan: string };
  readonly sandbox: string;
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'serve prints one line once it answers, and %s ends it with 0',
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

test('serve on a port that is taken ends with 1 and one line', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const { port } = other.address() as AddressInfo;
  const { code, stdout, stderr } = await finished(cli.start(['serve'], { PORT: String(port) }));
  other.close();
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(new RegExp(`^error: port ${String(port)} .*set PORT`, 'm'));
  expect(stderr).not.toMatch(/^\s+at /m);
});

test('demo loads its data once, and each start makes a key that works and ends the one before', async () => {
  const demo = async (): Promise<Demo> => {
    const child = cli.start(['demo', '--port', '0', '--json']);
    const end = finished(child);
    try {
      const answer = JSON.parse(await firstLine(child)) as Demo;
      const response = await fetch(`${answer.url}/api/v1/products?q=chai`, {
        headers: { authorization: `Bearer ${answer.key}` },
      });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ data: [{ name: 'Chai' }] });
      return answer;
    } finally {
      child.kill('SIGTERM');
      expect(await end).toMatchObject({ code: 0 });
    }
  };
  const [first, second] = [await demo(), await demo()];
  expect(second.organisation).toEqual({ ...first.organisation, name: 'Northwind Traders', plan: 'integrations' });
  expect(second.sandbox).toBe(`${second.url}/graphql`);
  expect(second.key).not.toBe(first.key);
  const keys = await cli.json<{ last_four: string; state: string }[]>('key', 'list', '--org', first.organisation.id);
  expect(keys.map(({ last_four: lastFour, state }) => [lastFour, state])).toEqual([
    [first.key.slice(-4), 'revoked'],
    [second.key.slice(-4), 'active'],
  ]);
});
