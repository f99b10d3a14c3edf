import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeWith, findProgram } from '../support/programs';
import { run } from '../packages/examples/run';
import {
  commandLine,
  type CommandLine,
  commandOf,
  makeKey,
  makeOrganisation,
  newFolder,
  NORTHWIND,
} from './commandLine';
import { startReceiver, stopReceivers } from '../support/receiver';

/** util-linux's `script` runs a command in a terminal. */
const SCRIPT = process.platform === 'linux' ? findProgram('script') : undefined;

const ESCAPES = /\u001b\[/;

const COLOURS = /\u001b\[[0-9;]*m/;

describeWith(SCRIPT, 'apt-get install bsdutils')('in a terminal', () => {
  const cli = commandLine();

  /** Runs a command in a terminal and returns its output. */
  function onTerminal(args: readonly string[], more: Record<string, string> = {}): Promise<string> {
    const line = commandOf(args)
      .map((word) => `'${word}'`)
      .join(' ');
    return run(SCRIPT!, ['--quiet', '--return', '--command', line, '/dev/null'], {
      env: { ...cli.environment, TERM: 'xterm-256color', ...more },
    });
  }

  test('import, export and doctor show a coloured progress bar', async () => {
    const { id } = await makeOrganisation(cli);
    const imported = await onTerminal(['import', '--org', id, NORTHWIND]);
    expect(imported).toMatch(/products .*100% \| 77 records/);
    expect(imported).toMatch(/orders .*100% \| 830 records/);
    expect(imported).toMatch(COLOURS);
    const exported = await onTerminal(['export', '--org', id, '--force', await newFolder()]);
    expect(exported).toMatch(/customers .*100% \| 91 records/);
    expect(await onTerminal(['doctor', '--fix'])).toMatch(/indexes .*100% \| 1 organisations/);
  });

  test('invalid lines of records and of keys are shown after the progress of their file', async () => {
    const [{ id }, folder] = [await makeOrganisation(cli), await newFolder()];
    await makeKey(cli, id);
    await cli.json('export', '--org', id, folder, '--keys', '--force');
    for (const file of ['products.ndjson', 'keys.ndjson']) await appendFile(join(folder, file), 'no json\n');
    const said = await onTerminal(['import', '--org', id, folder, '--keys']).catch(String);
    expect(said).toMatch(/products .*100%[^]*products\.ndjson:1:[^]*keys .*100%[^]*keys\.ndjson:3:/);
  });

  test('events listen shows what a receiver answers in colours', async () => {
    const [gateway, receiver] = [await startReceiver(), await startReceiver()];
    const event = { id: 'one', type: 'order.created', object: null };
    const pages = [[], [event]].map((data, at) => ({ data, has_more: false, next_cursor: String(at) }));
    gateway.answer = (_request, response) => {
      const page = pages.shift();
      response.writeHead(page ? 200 : 401, { 'content-type': 'application/json' });
      response.end(JSON.stringify(page ?? { code: 'unauthenticated', title: 'The end' }));
    };
    const args = ['events', 'listen', '--url', new URL(gateway.url).origin, '--forward', receiver.url, '--key', 'x'];
    const said = await onTerminal(args).catch(String);
    await stopReceivers();
    expect(said).toMatch(/order\.created {2}- {2}\u001b\[32m204\u001b\[39m {2}/);
  });

  test('NO_COLOR removes the colours and nothing else', async () => {
    const [plain, coloured] = await Promise.all([
      onTerminal(['org', 'list'], { NO_COLOR: '1' }),
      onTerminal(['org', 'list']),
    ]);
    expect(coloured).toMatch(COLOURS);
    expect(plain).not.toMatch(COLOURS);
    expect(coloured.replaceAll(new RegExp(COLOURS, 'g'), '')).toBe(plain);
  });
});

describe('in a pipe', () => {
  const cli: CommandLine = commandLine();

  test('there are no progress bars or colours', async () => {
    const { id } = await makeOrganisation(cli);
    for (const args of [
      ['import', '--org', id, join(NORTHWIND, 'products.ndjson')],
      ['org', 'list'],
      ['key', 'list', '--org', id],
      ['doctor', '--fix'],
    ]) {
      const { code, stdout, stderr } = await cli.spawned(...args);
      expect(code).toBe(0);
      expect(stdout + stderr).not.toMatch(ESCAPES);
      expect(stdout).not.toMatch(/%/);
    }
  });
});
