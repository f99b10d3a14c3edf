import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../faults/processes';
import { launch } from '../packages/examples/run';
import { eventually } from '../api/http/eventually';
import { PROGRAM } from '../support/built';
import { client } from '../support/client';
import { makeKey, makeNorthwind } from '../support/factories';
import { served } from '../support/gateway';
import { type Block, blocksOf, patternOf, RECEIVERS, ROOT } from './markdown';
import { writeProgram, writePrograms } from './programs';
import { openShell } from './shell';

/*
 * Walks the guide for receivers from an empty folder on, with a process for each of its terminals, and compares what they print with
 * what it shows. Only addresses, the secret, and where packages and the program come from are replaced.
 */

const BLOCKS = blocksOf(RECEIVERS);
const ENVIRONMENT = { CONTROL_DATABASE: `scopegate_guide_${randomUUID().slice(0, 8)}`, EVENTS: 'on' };
const PATIENCE = 60_000;

const gateway = served(ENVIRONMENT);
let key: string;
let folder: string;
let programs: string;
let port: string;
const terminals: ReturnType<typeof launch>[] = [];

beforeAll(async () => {
  ({ key } = await makeKey(gateway, await makeNorthwind(gateway, 20)));
  folder = await mkdtemp(join(tmpdir(), 'scopegate-receiver-'));
  programs = await writePrograms({ socket: '' });
  const scopegate = `run) exec '${process.execPath}' '${PROGRAM}' "\${@:5}" ;;`;
  const init = 'init) ;;';
  const install = `install) ln -s '${join(ROOT, 'node_modules')}' node_modules ;;`;
  await writeProgram(programs, 'npm', `#!/bin/bash\ncase "$1" in\n${scopegate}\n${init}\n${install}\nesac\n`);
  port = String(await freePort());
});
afterAll(async () => {
  for (const terminal of terminals) await terminal.kill();
  for (const made of [folder, programs]) await rm(made, { recursive: true });
});

const environment = (): Record<string, string> => {
  const { PATH = '', HOME = '' } = process.env;
  return { PATH: `${programs}:${PATH}`, HOME, KEY: key, SCOPEGATE_URL: gateway.url };
};

const replaced = (text: string): string =>
  text.replaceAll('http://127.0.0.1:4000', gateway.url).replaceAll(/\b3000\b/g, port);

/** Runs a block that goes on until it is stopped. */
function open(text: string, cwd = folder): ReturnType<typeof launch> {
  // exec replaces the shell with the program, so that it can be ended
  const line = replaced(text)
    .replace(/(npm|node) /, 'exec $1 ')
    .replace(/^(\w+=\S+) exec /, 'export $1; exec ');
  const terminal = launch('bash', ['-c', line], { cwd, env: environment() });
  terminals.push(terminal);
  return terminal;
}

/** Whether something listens on the receiver's port. */
async function isListening(): Promise<boolean> {
  const socket = connect(Number(port), '127.0.0.1');
  return once(socket, 'connect').then(
    () => Boolean(socket.destroy()),
    () => false,
  );
}

/** Posts the beginning of a longer body, and disconnects. Resolves when the connection is closed. */
async function postPart(part: string, isLeaving: boolean): Promise<void> {
  const socket = connect(Number(port), '127.0.0.1').on('error', () => undefined);
  const closed = once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE) });
  socket.resume().write(`POST /webhooks HTTP/1.1\r\nHost: receiver\r\nContent-Length: 1000000\r\n\r\n${part}`, () => {
    if (isLeaving) socket.destroy();
  });
  await closed;
}

const ofLanguage = (language: string): Block[] => BLOCKS.filter((block) => block.language === language);

test('the guide leads from nothing to a verified webhook, and its follow-up calls work', async () => {
  const [demo, setKey, listen, start, ...others] = ofLanguage('sh').filter(({ reason }) => reason !== undefined);
  expect([demo!.text, setKey!.text, others]).toEqual(['npm ci && npm run demo', 'KEY=svc_live_…', []]);
  const [make, ...calls] = ofLanguage('sh').filter(({ reason }) => reason === undefined);
  const [received, sent, ...more] = ofLanguage('text');
  expect([calls.length, more]).toEqual([2, []]);
  const shell = openShell(programs, folder, environment());
  try {
    const sender = open(listen!.text);
    const [, secret = ''] = await eventually(() => /(whsec_\S+)/.exec(sender.stderr()), PATIENCE);
    await shell.run(replaced(make!.text));
    const unset = open(start!.text, join(folder, 'receiver'));
    await eventually(() => /^Set SCOPEGATE_WEBHOOK_SECRET .*\n$/.test(unset.stderr()), PATIENCE);
    const receiver = open(start!.text.replace('whsec_…', secret), join(folder, 'receiver'));
    await eventually(() => isListening(), PATIENCE);
    await postPart('abc', true);
    // it does not wait for more than a webhook can contain
    await postPart('x'.repeat(30_000), false);
    await shell.run(replaced(calls[0]!.text));
    await eventually(() => patternOf(received!.text).test(receiver.stdout()), PATIENCE).catch(() => {
      expect({ said: receiver.stdout(), failed: receiver.stderr(), sent: sender.stdout() }).toEqual(received!.text);
    });
    // without the attempts before the receiver was started
    const printed = (): string =>
      sender
        .stdout()
        .split('\n')
        .filter((line) => !line.includes('failed'))
        .join('\n');
    await eventually(() => printed().split('\n').length > 2, PATIENCE);
    expect(printed()).toMatch(patternOf(sent!.text));
    expect(await shell.run(replaced(calls[1]!.text))).toContain('"next_cursor"');
  } finally {
    await shell.stop();
  }
});

test('the event shown has the members of a real one', async () => {
  const { body } = await client(gateway, key).get('/events', { limit: 1 });
  const [shown] = ofLanguage('json').map(({ text }) => JSON.parse(text) as object);
  expect(Object.keys(shown!)).toEqual(Object.keys(body.data[0] as object));
});
