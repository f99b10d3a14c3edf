import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { eventually } from '../api/http/eventually';
import { PROGRAM } from '../support/built';
import { commandLine, finished, newFolder } from './commandLine';

/* The commands of the README, which npm runs in a shell: they end with npm. */

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
}
const TERMINATED: Sent = { signal: 'SIGTERM', to: 'npm' };
const INTERRUPTED: Sent = { signal: 'SIGINT', to: 'npm' };
const CTRL_C: Sent = { signal: 'SIGINT', to: 'all' };

test.each([
  ['npm run serve', TERMINATED],
  ['npm run serve', INTERRUPTED],
  ['npm run demo', TERMINATED],
  ['npm run demo', CTRL_C],
  ['npm run scopegate -- serve', TERMINATED],
  ['npx scopegate serve', TERMINATED],
  ['npx scopegate serve', CTRL_C],
] as const)('%s leaves neither port nor process after %j', async (command, { signal, to }) => {
  const [program = '', ...args] = command.split(' ');
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, args, {
    cwd: program === 'npx' ? installation : checkout,
    env: { PATH, HOME, npm_config_offline: 'true', npm_config_update_notifier: 'false', ...environment, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const ended = finished(child);
  try {
    const port = await portOf(child);
    process.kill(to === 'all' ? -child.pid! : child.pid!, signal);
    await eventually(() => isGroupGone(child));
    expect(await isOpen(port)).toBe(false);
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
