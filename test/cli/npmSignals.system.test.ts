import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { eventually } from '../api/http/eventually';
import { PROGRAM } from '../support/built';
import { commandLine, finished, newFolder } from './commandLine';

/* Each way to start that the guide for operators names, and what a signal to it does: what it started ends, and npm with it. */

const ROOT = join(__dirname, '..', '..');
const { environment } = commandLine();

let checkout: string;
let installation: string;
beforeAll(async () => {
  checkout = await newFolder();
  await writeFile(join(checkout, 'package.json'), await readFile(join(ROOT, 'package.json')));
  await symlink(dirname(PROGRAM), join(checkout, 'dist'));
  installation = await newFolder();
  const bin = join(installation, 'node_modules', '.bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(installation, 'package.json'), '{"name":"app","version":"1.0.0"}');
  const source = `#!/usr/bin/env node\nrequire(${JSON.stringify(PROGRAM)});\n`;
  await writeFile(join(bin, 'scopegate'), source, { mode: 0o755 });
});

interface Sent {
  readonly signal: NodeJS.Signals;
  /** A terminal sends its signals to all processes of the group. */
  readonly to: 'npm' | 'all';
  /** The shell that npm uses; its own is sh. */
  readonly shell?: 'bash';
}
const TERMINATED: Sent = { signal: 'SIGTERM', to: 'npm' };
const INTERRUPTED: Sent = { signal: 'SIGINT', to: 'npm' };
const CTRL_C: Sent = { signal: 'SIGINT', to: 'all' };

/** In an installation; the others are run in a checkout. */
const INSTALLED = /^(npx|node_modules)/;
const STARTS: readonly (readonly [command: string, sent: Sent])[] = [
  ['node dist/main.js serve', TERMINATED],
  ['node_modules/.bin/scopegate serve', TERMINATED],
  ['npm run serve', TERMINATED],
  ['npm run serve', INTERRUPTED],
  ['npm run demo', CTRL_C],
  ['npm run scopegate -- serve', TERMINATED],
  ['npx scopegate serve', TERMINATED],
  ['npx scopegate serve', CTRL_C],
  ['npx scopegate serve', { ...INTERRUPTED, shell: 'bash' }],
];

test('the guide for operators, the unit for systemd and the image start gateways in these ways', () => {
  const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
  const guide = read('docs/guides/operators.md');
  const [, table = ''] = guide.split('| started by | the signal |\n');
  const named = table
    .split('\n\n')[0]!
    .split('\n')
    .flatMap((row) => row.split(' | ')[0]!.match(/(?<=`)[a-z][^`]*(?=`)/g) ?? []);
  const tried = STARTS.map(([command]) => command);
  expect(named.length).toBeGreaterThan(4);
  expect(tried).toEqual(expect.arrayContaining(named));
  for (const [, line] of guide.matchAll(/`web: ([^`]+)`/g)) expect(tried).toContain(line);
  expect(read('deploy/systemd/scopegate.service')).toMatch(
    /^ExecStart=\/usr\/bin\/env [^\n]*\\\n(?:.*\\\n)*    node --max-semi-space-size=16 \S+\/dist\/main\.js serve$/m,
  );
  expect(read('Dockerfile')).toMatch(
    /^ENTRYPOINT \["node", "--max-semi-space-size=16", "dist\/main\.js"\]\nCMD \["serve"\]$/m,
  );
});

test.each(STARTS)('%s leaves neither port nor process after %j', async (command, { signal, to, shell }) => {
  const [program = '', ...args] = command.split(' ');
  const { PATH = '', HOME = '' } = process.env;
  const npm = {
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
    ...(shell && { npm_config_script_shell: shell }),
  };
  const child = spawn(program, args, {
    cwd: INSTALLED.test(program) ? installation : checkout,
    env: { PATH, HOME, ...npm, ...environment, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = finished(child);
  try {
    const port = await portOf(child);
    process.kill(to === 'all' ? -child.pid! : child.pid!, signal);
    await eventually(() => isGroupGone(child));
    expect(await isOpen(port)).toBe(false);
    // of npx it is that of the shell, unless that passes signals on
    await ended;
    // npm forwards a Ctrl-C that all got: a process that is just ending no longer handles it, and later than half a second it is a second Ctrl-C
    if (program !== 'npx' || shell)
      expect(to === 'all' ? [0, 130, signal] : [0]).toContain(child.exitCode ?? child.signalCode);
  } finally {
    if (!isGroupGone(child)) process.kill(-child.pid!, 'SIGKILL');
    await ended;
  }
});

/** The port in what the command prints once it listens. */
async function portOf({ stdout }: ChildProcess): Promise<number> {
  let said = '';
  stdout!.on('data', (text: string) => (said += text));
  const [, port] = await eventually(() => /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(said), 50_000);
  return Number(port);
}

function isGroupGone({ pid }: ChildProcess): boolean {
  try {
    return !process.kill(-pid!, 0);
  } catch {
    return true;
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => {
      resolve(false);
    });
  });
}
