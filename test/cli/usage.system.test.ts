import type { Command } from 'commander';
import { createProgram } from '../../src/cli/program';
import { describeVariables } from '../../src/config';
import { commandLine, NOBODY } from './commandLine';

/** Every command that does something, from the program itself. */
const COMMANDS = linesOf(createProgram());
function linesOf(command: Command, path: readonly string[] = []): string[] {
  if (command.commands.length === 0) return [path.join(' ')];
  return command.commands.flatMap((command) => linesOf(command, [...path, command.name()]));
}

describe('help', () => {
  const cli = commandLine();

  test('the help of every command has examples, exit codes and --json', async () => {
    expect(COMMANDS.length).toBeGreaterThan(30);
    for (const command of COMMANDS) {
      const help = await cli.run(...command.split(' '), '--help');
      expect(help).toMatchObject({ code: 0, stderr: '' });
      expect(help.stdout).toContain(`Usage: scopegate ${command}`);
      expect(help.stdout).toMatch(/\nExamples:\n {2}scopegate |\nExamples:\n {2}npx /);
      expect(help.stdout).toMatch(/Exit codes:\n {2}0 {4}done/);
      expect(help.stdout).toContain('--json');
    }
  });

  test('durations are shown as they are entered', async () => {
    const { stdout } = await cli.run('key', 'rotate', '--help');
    expect(stdout).toContain('(default: 24h)');
  });

  test.each(['serve', 'doctor', 'demo'])('%s --help lists every environment variable', async (command) => {
    // a shared process could already have loaded the variables for another command
    const { stdout } = await cli.spawned(command, '--help');
    for (const { name } of describeVariables()) expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\S`, 'm'));
  });

  test.each(['serve', 'key create'])('help %s is the same as --help after it', async (command) => {
    const [before, after] = await Promise.all([
      cli.spawned('help', ...command.split(' ')),
      cli.spawned(...command.split(' '), '--help'),
    ]);
    expect(before).toEqual(after);
  });

  test('the program lists its commands and prints its version', async () => {
    const [help, version] = await Promise.all([cli.spawned('--help'), cli.spawned('--version')]);
    expect(help).toMatchObject({ code: 0, stderr: '' });
    for (const command of COMMANDS) expect(help.stdout).toContain(`\n  ${command.split(' ')[0] ?? ''} `);
    expect(version.stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});

describe('wrong usage', () => {
  // no database there: usage errors are reported before connecting
  const cli = commandLine({ MONGODB_URI: 'mongodb://127.0.0.1:1' });

  const WRONG: [line: string[], allowed: string][] = [
    [[], 'Commands:'],
    [
      ['frobnicate'],
      'commands: demo, serve, org, key, webhook, audit, logs, events, import, export, customer, sandbox, openapi, schema, doctor',
    ],
    [['org', 'frobnicate'], 'commands: create, list, show, rename, set-plan, suspend, resume, reset, move, erase'],
    [['org', 'create'], '--name'],
    [['org', 'create', '--name', 'svc_live_0123456789012345678901_01234567'], 'without an API key'],
    [['org', 'create', '--name', 'A', '--plan', 'gold'], 'starter, integrations, enterprise'],
    [['org', 'set-plan', NOBODY, 'gold'], 'starter, integrations, enterprise'],
    [['org', 'link', '--org', NOBODY, '--role', 'owner'], 'member, admin'],
    [['org', 'list', '--frob'], '--frob'],
    [['org', 'list', 'extra'], 'too many arguments'],
    [['key', 'create', '--org', 'x', '--name', 'A', '--scopes', 'all'], 'UUID'],
    [
      ['key', 'create', '--org', NOBODY, '--name', 'A', '--scopes', 'all', '--expires-in', 'never'],
      'Dates are not accepted. Without --expires-in it never expires.',
    ],
    [['key', 'update', NOBODY, '--expires-in', '2027-01-01'], 'For a key that never expires: --never-expires'],
    [['key', 'rotate', NOBODY, '--expires-in', 'never'], 'Without --expires-in it lasts as long as the old key did.'],
    [['key', 'update', NOBODY], 'nothing to change: give --name'],
    [['key', 'update', NOBODY, '--expires-in', '1d', '--never-expires'], 'cannot be used with'],
    [['key', 'update', NOBODY, '--mcp', 'all'], 'Allowed choices are off, read, write'],
    [['logs', '--org', NOBODY, '--status', '9xx'], 'Expected a status'],
    [['logs', '--org', NOBODY, '--code', '429'], 'choices are invalid_request, unauthenticated, insufficient_scope, '],
    [['logs'], '--org'],
    [['events', 'tail', '--org', NOBODY, '--types', ','], 'at least one type'],
    [['events', 'tail', '--org', NOBODY, '--since', '1h', '--after', 'now'], 'cannot be used with'],
    [['events', 'listen', '--forward', 'ftp://127.0.0.1/hook'], 'begins with http:// or https://'],
    [['events', 'listen', '--forward', 'localhost:3000'], 'begins with http:// or https://'],
    [['events', 'listen', '--forward', 'http://user:word@127.0.0.1/'], 'without user name and password'],
    [['events', 'listen', '--forward', 'http://127.0.0.1/', '--url', 'nowhere'], 'begins with http:// or https://'],
    [['events', 'listen', '--forward', 'http://127.0.0.1/', '--secret', 'secret'], 'whsec_ and 24 to 64 bytes'],
    [['events', 'listen', '--forward', 'http://127.0.0.1/'], 'no API key: set SCOPEGATE_KEY, or give --key'],
    [['events', 'listen'], '--forward'],
    [['demo', '--port', '70000'], '0 to 65535'],
  ];

  test.each(WRONG)('scopegate %j exits with 2 and prints what is allowed only to stderr', async (line, allowed) => {
    expect(await cli.failed(2, ...line)).toContain(allowed);
  });
});

// in separate processes, to test complete output and real exit codes
describe('errors', () => {
  test('an invalid environment is reported in full, with exit code 1', async () => {
    const cli = commandLine({ PORT: 'x', LOG_LEVEL: 'loud' });
    const { code, stdout, stderr } = await cli.spawned('org', 'list', '--json');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/PORT: .*\n.*LOG_LEVEL: /);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  test('an unreachable database is reported without stack trace or password', async () => {
    const cli = commandLine({ MONGODB_URI: 'mongodb://user:hunter2@127.0.0.1:1' });
    const { code, stdout, stderr } = await cli.spawned('org', 'list');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('scopegate doctor says what to change');
    expect(stderr).not.toMatch(/^\s+at |hunter2/m);
  });
});

test('openapi prints the document without a database', async () => {
  const { code, stdout, stderr } = await commandLine({ MONGODB_URI: 'mongodb://127.0.0.1:1' }).spawned('openapi');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) as unknown });
  expect(stdout).toMatch(/^\{\n {2}"openapi"/);
});
