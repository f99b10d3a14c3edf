import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../api/http/eventually';
import { untilReady } from '../api/http/raw';
import { version } from '../../src/package';
import { describeWith } from '../support/programs';
import { INSTALL_REDIS, REDIS, startRedis } from '../support/redis';
import { commandLine, type Diagnosis, finished, followed, makeOrganisation, newFolder, serve } from './commandLine';

const cli = commandLine();

interface Demo {
  readonly url: string;
  readonly key: string;
  readonly organisation: { readonly id: string; readonly name: string; readonly plan: string };
  readonly sandbox: string;
}

// SIGINT is in npmSignals.system.test.ts, and SIGTERM ends every other gateway here
test('serve prints one line when it is ready, and exits with 0 on SIGHUP; without a folder of a schema there is no record of one', async () => {
  const command = followed(cli, ['serve'], { PORT: '0', LOG_LEVEL: 'warn' });
  const [line = ''] = await command.until(1);
  expect(line).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+$/);
  await untilReady({ url: line.replace('listening on ', '') });
  command.child.kill('SIGHUP');
  expect(await command.ended).toMatchObject({ code: 0, stdout: `${line}\n` });
  const { checks } = await cli.json<Diagnosis>('doctor');
  const names = checks.map(({ name }) => name);
  expect([names.includes('control schema'), names.includes('schema')]).toEqual([true, false]);
});

describe('serve on a port in use exits with 1 and one line that says which', () => {
  const other = createServer();
  let busy: string;
  beforeAll(async () => {
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    busy = String((other.address() as AddressInfo).port);
  });
  afterAll(() => other.close());

  async function refused(variable: string, environment: Record<string, string>): Promise<void> {
    const child = cli.start(['serve'], { PORT: '0', ...environment, [variable]: busy });
    const { code, stdout, stderr } = await finished(child);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const said = linesOf(stderr).filter(({ level }) => Number(level) > 40);
    expect(said).toEqual([
      expect.objectContaining({ msg: expect.stringMatching(`^port ${busy} .*set ${variable} `) as unknown }),
    ]);
  }

  // PORT without it is in waitingStart.system.test.ts
  test('ADMIN_PORT', () => refused('ADMIN_PORT', {}));

  describeWith(REDIS, INSTALL_REDIS)('with Redis', () => {
    test('PORT', async () => {
      const redis = await startRedis();
      await refused('PORT', { REDIS_URL: redis.url, ADMIN_PORT: '0' });
      await redis.kill();
    });
  });
});

/** The lines of a log, all of which must be JSON. */
function linesOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test.each([
  [{ MONGODB_URI: '' }, 'MONGODB_URI is not set'],
  [{ KEY_PEPPER: '' }, 'KEY_PEPPER is not set'],
])('in production serve rejects %j', async (missing, sentence) => {
  const production = commandLine({ NODE_ENV: 'production', KEY_PEPPER: 'pepper', PORT: '0', ...missing });
  const said = await production.failed(1, 'serve');
  expect(said).toContain(sentence);
  expect(said.trim().split('\n')).toHaveLength(1);
});

describe('the stderr of serve is JSON', () => {
  test.each<[string, Record<string, string>, number, string]>([
    ['with an invalid environment', { PORT: 'x', HOST: '127.0.0.1' }, 50, 'invalid environment:\n  PORT: must be'],
    [
      'and says why it does not start, at any LOG_LEVEL',
      { LOG_LEVEL: 'silent', ADMIN_PORT: '4000' },
      50,
      'must differ',
    ],
  ])('%s', async (_title, more, level, words) => {
    const { code, stdout, stderr } = await finished(cli.start(['serve'], { PORT: '4000', ...more }));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(linesOf(stderr).at(-1)).toMatchObject({ level, msg: expect.stringContaining(words) as unknown });
  });

  test('from start to exit, with warnings of the runtime and of what is set wrongly, and signals', async () => {
    const meant = commandLine();
    await makeOrganisation(meant);
    const CONTROL_DATABASE = `${meant.controlDatabase}_`;
    const {
      url,
      child,
      stderr: said,
      stop,
    } = await serve(cli, [], {
      CONTROL_DATABASE,
      INSTANCES: '2',
      NODE_OPTIONS: `--require=${join(__dirname, '..', 'support', 'warning.cjs')}`,
    });
    const { stdout: listed } = await commandLine({ CONTROL_DATABASE }).run('org', 'list');
    expect(listed).toContain(`set CONTROL_DATABASE=${meant.controlDatabase}`);
    await fetch(`${url}/livez`);
    child.kill('SIGUSR2');
    await eventually(async () => {
      await fetch(`${url}/livez`);
      return said().includes('"path":"/livez"');
    });
    child.kill('SIGUSR2');
    await eventually(() => said().includes('the log level is now info'));
    await fetch(`${url}/livez`);
    const { code, stderr } = await stop();
    expect(code).toBe(0);
    const lines = linesOf(stderr);
    const node = process.version;
    expect(lines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ level: 40, error: { type: 'Warning', message: 'sample' } }),
        expect.objectContaining({
          level: 40,
          msg: expect.stringMatching(/INSTANCES is 2: .* set REDIS_URL/) as unknown,
        }),
        expect.objectContaining({
          level: 40,
          msg: `the control database ${CONTROL_DATABASE} has no organisation, but ${meant.controlDatabase} on the same servers has: is CONTROL_DATABASE right?`,
        }),
        expect.objectContaining({ log_level: 'debug' }),
        expect.objectContaining({ level: 20, path: '/livez', status: 200 }),
        expect.objectContaining({ msg: 'started', version, revision: expect.any(String) as unknown, node, url }),
        expect.objectContaining({ msg: 'draining', reason: 'SIGTERM', requests: 0, streams: 0 }),
      ]),
    );
    expect(lines.at(-1)).toMatchObject({ msg: 'stopped', ms: expect.any(Number) as unknown });
    // before the first signal and after the second, probes are below the level
    const at = (msg: string): number => lines.findIndex((line) => String(line.msg).startsWith(msg));
    const probes = lines.flatMap(({ path }, index) => (path === '/livez' ? index : []));
    expect(Math.min(...probes)).toBeGreaterThan(at('the log level is now debug'));
    expect(Math.max(...probes)).toBeLessThan(at('the log level is now info'));
  });
});

test('demo prints a key that works, keeps it while the pepper is replaced, and refuses to start with a third one', async () => {
  const own = commandLine({ DATA_DIR: await newFolder() });
  const args = ['demo', '--port', '0', '--json'];
  const demo = async (peppers: Record<string, string>): Promise<Demo> => {
    const command = followed(own, args, peppers);
    try {
      const [line = ''] = await command.until(1);
      const answer = JSON.parse(line) as Demo;
      const headers = { authorization: `Bearer ${answer.key}` };
      const response = await fetch(`${answer.url}/api/v1/products?q=chai`, { headers });
      expect(response.status).toBe(200);
      expect(await response.json()).toMatchObject({ data: [{ name: 'Chai' }] });
      return answer;
    } finally {
      expect(await command.end('SIGTERM')).toBe(0);
    }
  };
  const first = await demo({ KEY_PEPPER: 'old' });
  expect(first).toMatchObject({ organisation: { name: 'Northwind Traders', plan: 'integrations' } });
  expect(first.sandbox).toBe(`${first.url}/graphql`);
  expect((await demo({ KEY_PEPPER: 'new', KEY_PEPPER_PREVIOUS: 'old' })).key).toBe(first.key);
  // it was used, so it has the new one
  expect((await demo({ KEY_PEPPER: 'new' })).key).toBe(first.key);
  expect(await finished(own.start(args, { KEY_PEPPER: 'another' }))).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('KEY_PEPPER is not the one that the keys in this database are') as unknown,
  });
});
