import { commandLine, makeKey, makeOrganisation } from './commandLine';

const WRONG = 'KEY_PEPPER is not the one that the keys in this database are hashed with';

test('a pepper that does not match the keys is rejected by key create, key rotate and serve until no key is active', async () => {
  const right = commandLine({ KEY_PEPPER: 'right' });
  const wrong = commandLine({ ...right.environment, KEY_PEPPER: 'wrong', PORT: '0' });
  const { id: org } = await makeOrganisation(right);
  const { id } = await makeKey(right, org);
  const create = ['key', 'create', '--org', org, '--name', 'key', '--scopes', 'all'];
  for (const args of [create, ['key', 'rotate', id], ['serve']])
    expect(await wrong.failed(1, ...args)).toContain(WRONG);
  await wrong.json('key', 'revoke', id);
  await makeKey(wrong, org);
  expect(await right.failed(1, ...create)).toContain(WRONG);
});

test.each([
  [{ MONGODB_URI: '' }, 'MONGODB_URI is not set'],
  [{ KEY_PEPPER: '' }, 'KEY_PEPPER is not set'],
])('in production serve rejects %j', async (missing, sentence) => {
  const cli = commandLine({ NODE_ENV: 'production', KEY_PEPPER: 'pepper', PORT: '0', ...missing });
  const said = await cli.failed(1, 'serve');
  expect(said).toContain(sentence);
  expect(said.trim().split('\n')).toHaveLength(1);
});
