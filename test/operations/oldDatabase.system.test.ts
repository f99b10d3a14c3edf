import { type DatabaseProxy, openDatabaseProxy, replyWith } from '../../faults/databaseProxy';
import { openStore } from '../../src/cli/store';
import { readConfig } from '../../src/config';
import { tooOld } from '../../src/mongo/deployment';
import { untilReady } from '../api/http/raw';
import { commandLine } from '../cli/commandLine';
import { startGateway } from '../support/gateway';

/* Uses the test database through a proxy that reports an older version. */

let old: DatabaseProxy;
beforeAll(async () => {
  old = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
    onReply: (reply, command) =>
      command && 'buildInfo' in command ? replyWith(reply, { version: '5.0.31', versionArray: [5, 0, 31, 0] }) : reply,
  });
});
afterAll(() => old.close());

const SENTENCE = 'the database runs MongoDB 5.0.31; 6.0 or later is required';

async function open(environment: Record<string, string>): Promise<string[]> {
  const said: string[] = [];
  const config = readConfig({ CONTROL_DATABASE: 'scopegate_old', ...environment });
  const store = await openStore(config, (line) => said.push(line));
  await store.close();
  return said;
}

test('a MongoDB older than 6.0 is rejected with one sentence, and serve exits', async () => {
  await expect(open({ MONGODB_URI: old.uri })).rejects.toThrow(
    `${SENTENCE} (set ALLOW_OLD_MONGODB=true to use it anyway)`,
  );
  const served = await commandLine({ MONGODB_URI: old.uri, PORT: '0', ALLOW_OLD_MONGODB: '' }).run('serve');
  expect(served).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(SENTENCE) as unknown });
});

test('ALLOW_OLD_MONGODB=true accepts it, with a warning', async () => {
  const said = await open({ MONGODB_URI: old.uri, ALLOW_OLD_MONGODB: 'true' });
  expect(said).toContainEqual(expect.stringMatching(`^warning: ${SENTENCE}`));
});

test('ALLOW_OLD_MONGODB of the tests reaches the gateways and the commands that they start', async () => {
  process.env.ALLOW_OLD_MONGODB = 'true';
  await using gateway = await startGateway({ MONGODB_URI: old.uri, CONTROL_DATABASE: 'scopegate_old' });
  await untilReady(gateway);
  expect(await commandLine({ MONGODB_URI: old.uri }).json('org', 'list')).toEqual([]);
});

test.each(['6.0.0', '6.0.19', '7.0.1', '8.2.11', '10.0.0', '6.0.0-rc3'])('%s is new enough', (version) => {
  expect(tooOld(version)).toBeUndefined();
});

test.each(['4.4.29', '5.0.31', '5.3.2', '3.6', '', 'unknown'])('"%s" is too old', (version) => {
  expect(tooOld(version)).toContain('6.0 or later is required');
});
