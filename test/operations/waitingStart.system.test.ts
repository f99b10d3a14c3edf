import { mongo } from 'mongoose';
import { type Command, openDatabaseProxy, replyWith } from '../../faults/databaseProxy';
import { freePort } from '../../faults/processes';
import { raw, untilReady } from '../api/http/raw';
import { commandLine, type Environment, type Followed, followed, makeKey, makeOrganisation } from '../cli/commandLine';

/* `serve` is started before its database, for which a proxy to the test database stands that opens later. */

const TARGET = process.env.TEST_MONGODB_URI!;
const AUTHORISED = { authorization: 'Bearer svc_live_x' };

interface Waiting {
  readonly command: Followed;
  readonly port: number;
  /** Its line in the log. */
  readonly line: Readonly<Record<'url' | 'admin_url' | 'detail' | 'fix', string>>;
}

/** Starts `serve` at a port where nothing listens, and resolves once it waits. */
async function startWaiting(environment: Environment = {}, options = 'directConnection=true'): Promise<Waiting> {
  const port = await freePort();
  const MONGODB_URI = `mongodb://${environment.USER ?? ''}127.0.0.1:${String(port)}/?${options}`;
  const cli = commandLine({ ...environment, MONGODB_URI });
  const command = followed(cli, ['serve', '--json'], { PORT: '0', ADMIN_PORT: '0' });
  const [line] = await command.says(/^.*"waiting for the database".*$/m);
  return { command, port, line: JSON.parse(line) as Waiting['line'] };
}

const asIs = (reply: Buffer): Buffer => reply;

/** Changes the replies to some commands. */
const replying =
  (names: readonly string[], change: Command) =>
  (reply: Buffer, command: Command | undefined): Buffer =>
    command && names.some((name) => name in command) ? replyWith(reply, change) : reply;

/** No replica set, and not mongos. */
const standalone = replying(['hello', 'ismaster'], {
  setName: undefined,
  hosts: undefined,
  setVersion: undefined,
  primary: undefined,
});
const STANDALONE =
  'the server in MONGODB_URI is in no replica set (a standalone), so it has neither transactions nor change streams';
const MAKE_SET =
  'run it as a replica set (one member is enough): start mongod with --replSet rs0, then run rs.initiate() in mongosh';

/* Beside each other, since they mostly wait. */

test.concurrent(
  'a start waits for a database that is away, says so, and serves at the same address once it is there',
  async () => {
    let waiting = await startWaiting();
    // the machine was too busy to learn within the 3 s of the first attempt that nothing listens
    while (waiting.line.detail.endsWith('answers in time')) waiting = await startWaiting();
    const { command, port, line } = waiting;
    expect(line).toMatchObject({
      detail: `nothing listens at that address (ECONNREFUSED 127.0.0.1:${String(port)})`,
      fix: 'start the server, or correct host and port in MONGODB_URI',
    });
    expect((await raw(line.url, '/livez', {})).status).toBe(200);
    const ready = await raw(line.admin_url, '/readyz', {});
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.text)).toEqual({
      status: 'starting',
      checks: { database: 'unavailable' },
      // anyone may read it, so without the address
      detail: 'waiting for the database: nothing listens at that address',
    });
    expect((await raw(line.admin_url, '/metrics', {})).text).toMatch(/^scopegate_database_up 0$/m);
    const rest = await raw(line.url, '/api/v1/products', { headers: AUTHORISED });
    expect(rest).toMatchObject({ status: 503, headers: { 'content-type': 'application/problem+json' } });
    expect(Number(rest.headers['retry-after'])).toBeGreaterThan(0);
    expect(JSON.parse(rest.text)).toMatchObject({ code: 'unavailable', request_id: expect.any(String) as unknown });
    const graphql = await raw(line.url, '/graphql', { method: 'POST', headers: AUTHORISED, body: '{}' });
    expect(JSON.parse(graphql.text)).toMatchObject({ errors: [{ extensions: { code: 'unavailable' } }] });

    await using _database = await openDatabaseProxy(TARGET, { onReply: asIs, port });
    const [printed = ''] = await command.until(1);
    expect(JSON.parse(printed)).toEqual({ url: line.url, admin_url: line.admin_url });
    // before probes, which a slow database may answer late
    await command.says(/the database is there/);
    const states = [...command.stderr().matchAll(/^.*"database":"\w+".*$/gm)].map(
      ([text]) => JSON.parse(text) as Record<string, unknown>,
    );
    expect(states).toMatchObject([
      { database: 'unavailable', msg: 'waiting for the database' },
      { database: 'ok', msg: 'the database is there', refused: 2, waited_seconds: expect.any(Number) as unknown },
    ]);
    await untilReady(line);
    expect((await raw(line.url, '/api/v1/products', { headers: AUTHORISED })).status).toBe(401);
    expect(await command.end('SIGTERM')).toBe(0);
    expect(command.lines()).toHaveLength(1);
  },
);

test.concurrent('a start that waits ends with 0 on SIGTERM, and with 1 if its port is in use', async () => {
  const { command, line } = await startWaiting();
  const busy = followed(commandLine({ MONGODB_URI: 'mongodb://127.0.0.1:1' }), ['serve'], {
    PORT: new URL(line.url).port,
  });
  expect(await busy.ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('set PORT') as unknown,
  });
  expect(await command.end('SIGTERM')).toBe(0);
  expect(command.lines()).toEqual([]);
});

test.concurrent('a start that waited ends with 1 once it knows what waiting does not mend', async () => {
  const newer = `${commandLine().controlDatabase}_newer`;
  await using client = await mongo.MongoClient.connect(TARGET);
  await client
    .db(newer)
    .collection('deployment')
    .insertOne({ _id: 'schema' as never, version: 99 });
  const peppered = commandLine({ KEY_PEPPER: 'one' });
  await makeKey(peppered, (await makeOrganisation(peppered)).id);

  const wrongPassword = replying(['saslStart'], {
    ok: 0,
    code: 18,
    codeName: 'AuthenticationFailed',
    errmsg: 'Authentication failed.',
  });
  const cases = [
    { start: startWaiting(), onReply: standalone, words: `${STANDALONE}: ${MAKE_SET}` },
    { start: startWaiting({}, 'replicaSet=rs0'), onReply: standalone, words: `${STANDALONE}: ${MAKE_SET}` },
    {
      start: startWaiting({ USER: 'ann:hunter2@' }),
      onReply: wrongPassword,
      words: 'the server rejects the user name or the password: correct them in MONGODB_URI',
    },
    { start: startWaiting({ CONTROL_DATABASE: newer }), onReply: asIs, words: 'has schema version 99' },
    {
      start: startWaiting({ CONTROL_DATABASE: peppered.controlDatabase, KEY_PEPPER: 'another' }),
      onReply: asIs,
      words: 'KEY_PEPPER is not the one that the keys in this database are hashed with',
    },
  ];
  // side by side, since they mostly wait
  const ends = cases.map(async ({ start, onReply }) => {
    const { command, port } = await start;
    await using _database = await openDatabaseProxy(TARGET, { onReply, port });
    return await command.ended;
  });
  for (const [at, { code, stdout, stderr }] of (await Promise.all(ends)).entries()) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    const last = JSON.parse(stderr.trim().split('\n').at(-1)!) as unknown;
    expect(last).toMatchObject({ level: 50, msg: expect.stringContaining(cases[at]!.words) as unknown });
    expect(stderr).not.toContain('hunter2');
  }
});

test.concurrent('other commands refuse a standalone, too', async () => {
  const port = await freePort();
  await using _database = await openDatabaseProxy(TARGET, { onReply: standalone, port });
  for (const options of ['directConnection=true', 'replicaSet=rs0']) {
    const cli = commandLine({ MONGODB_URI: `mongodb://127.0.0.1:${String(port)}/?${options}` });
    expect(await cli.failed(1, 'org', 'create', '--name', 'Acme')).toContain(`${STANDALONE}: ${MAKE_SET}`);
  }
});
