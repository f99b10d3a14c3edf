import { randomBytes } from 'node:crypto';
import { commandLine, type CommandLine, makeOrganisation } from './commandLine';

const WRONG = 'KEY_PEPPER is not the one that the keys in this database are hashed with';

/** A command line with a pepper, on a control database. */
function withPepper(KEY_PEPPER: string, CONTROL_DATABASE: string): CommandLine {
  return commandLine({ KEY_PEPPER, CONTROL_DATABASE });
}

const newDatabase = (): string => `cli_${randomBytes(6).toString('hex')}`;

describe('a pepper that does not match the existing keys', () => {
  const control = newDatabase();
  const [right, wrong] = [withPepper('right', control), withPepper('wrong', control)];
  let createKey: [string, ...string[]];
  let keyId: string;

  beforeAll(async () => {
    const { id } = await makeOrganisation(right);
    createKey = ['key', 'create', '--org', id, '--name', 'key', '--scopes', 'all'];
    keyId = (await right.json<{ id: string }>(...createKey)).id;
  });

  test('is rejected by key create and key rotate', async () => {
    const rejected = { code: 1, stdout: '', stderr: expect.stringContaining(WRONG) as unknown };
    expect(await wrong.run(...createKey)).toMatchObject(rejected);
    expect(await wrong.run('key', 'rotate', keyId)).toMatchObject(rejected);
  });

  test('is rejected by serve before it listens', async () => {
    const served = await commandLine({ KEY_PEPPER: 'wrong', CONTROL_DATABASE: control, PORT: '0' }).run('serve');
    expect(served).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(WRONG) as unknown });
  });

  test('is accepted once no key is active', async () => {
    expect(await wrong.run('key', 'revoke', keyId)).toMatchObject({ code: 0 });
    expect(await wrong.run(...createKey)).toMatchObject({ code: 0 });
    expect(await right.run(...createKey)).toMatchObject({ code: 1 });
  });
});

test.each([
  [{ MONGODB_URI: '' }, 'MONGODB_URI is not set'],
  [{ KEY_PEPPER: '' }, 'KEY_PEPPER is not set'],
])('in production serve rejects %j', async (missing, sentence) => {
  const cli = commandLine({ NODE_ENV: 'production', KEY_PEPPER: 'pepper', PORT: '0', ...missing });
  const { code, stdout, stderr } = await cli.run('serve');
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toContain(sentence);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
