import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:tls';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { connectionFinding } from '../../src/cli/doctor/connection';
import { type DatabaseProxy, openDatabaseProxy } from '../../faults/databaseProxy';
import { describeWith, findProgram } from '../support/programs';
import { commandLine } from './commandLine';

/* doctor names the cluster, the variable and the remedy; never the password. */

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  readonly fix?: string;
}

async function failedChecks(environment: Record<string, string>): Promise<Check[]> {
  const { code, stdout, stderr } = await commandLine(environment).run('doctor', '--json');
  expect(code).toBe(1);
  expect(stdout + stderr).not.toMatch(/hunter2/);
  return (JSON.parse(stdout) as { checks: Check[] }).checks.filter(({ ok }) => !ok);
}

/** Where a URI can be, and how doctor names that. */
const PLACES = [
  ['MONGODB_URI', 'default', 'MONGODB_URI', 'database', (uri: string) => ({ MONGODB_URI: uri })],
  [
    'MONGODB_CLUSTERS',
    'eu',
    'the entry eu of MONGODB_CLUSTERS',
    'cluster eu',
    (uri: string) => ({ MONGODB_CLUSTERS: `eu=${uri}` }),
  ],
] as const;

/** The reply to a message, with the document of a failed command instead of its own. */
function refusal(reply: Buffer, document: object): Buffer {
  const body = mongo.BSON.serialize({ ok: 0, ...document });
  const head = Buffer.from(reply.subarray(0, 21));
  head.writeInt32LE(21 + body.length, 0);
  head.writeInt32LE(0, 16);
  head[20] = 0;
  return Buffer.concat([head, body]);
}

describe.each(PLACES)('in %s', (_variable, cluster, entry, check, environment) => {
  describe('a wrong password', () => {
    let proxy: DatabaseProxy;
    beforeAll(async () => {
      proxy = await openDatabaseProxy(process.env.TEST_MONGODB_URI!, {
        onReply: (reply, command) =>
          command && 'saslStart' in command
            ? refusal(reply, { code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' })
            : reply,
      });
    });
    afterAll(() => proxy.close());

    test('is told from a server that does not respond', async () => {
      const uri = proxy.uri.replace('mongodb://', 'mongodb://ann:hunter2@');
      const [failed] = await failedChecks(environment(uri));
      expect(failed).toEqual({
        name: check,
        ok: false,
        detail: `cluster ${cluster}: the server rejects the user name or the password`,
        fix: expect.stringContaining(`correct them in ${entry}, percent-encoded`) as unknown,
      });
    });
  });

  test('TLS to a server without it, which closes the connection as mongod does', async () => {
    const plain = createServer((socket) => socket.once('data', () => socket.destroy())).listen(0, '127.0.0.1');
    await once(plain, 'listening');
    const port = String((plain.address() as AddressInfo).port);
    const [failed] = await failedChecks(environment(`mongodb://127.0.0.1:${port}/?tls=true&directConnection=true`));
    plain.close();
    expect(failed).toMatchObject({
      name: check,
      detail: expect.stringContaining(`cluster ${cluster}: TLS is requested`),
    });
    expect(failed!.fix).toContain(`remove tls=true from ${entry}`);
  });

  test('TLS to the database of the tests, which is not told apart from a server that is away', async () => {
    const { host } = new URL(process.env.TEST_MONGODB_URI!);
    const [failed] = await failedChecks(environment(`mongodb://${host}/?tls=true&directConnection=true`));
    expect(failed).toMatchObject({ name: check, ok: false, detail: expect.stringContaining(`cluster ${cluster}: `) });
    expect(failed!.fix).toMatch(/tls/);
    expect(failed!.fix).toContain(entry);
  });

  test.each([
    [
      'mongodb://127.0.0.1:1/?directConnection=true',
      'nothing listens at that address (ECONNREFUSED 127.0.0.1:1)',
      'host and port',
    ],
    ['mongodb://no-such-host.invalid/', 'a host name is not known here', 'correct the host'],
  ])('%s', async (uri, detail, fix) => {
    const [failed] = await failedChecks(environment(uri));
    expect(failed).toMatchObject({ name: check, detail: expect.stringContaining(`cluster ${cluster}: ${detail}`) });
    expect(failed!.fix).toContain(fix);
    expect(failed!.fix).toContain(entry);
  });

  test.each([
    ['an unknown option', 'mongodb://ann:hunter2@h/?retryWritez=true', /retrywritez/i],
    ['an option without a value', 'mongodb://ann:hunter2@h/?replicaSet', /replicaSet/],
    ['a bad value', 'mongodb://ann:hunter2@h/?directConnection=1', /directConnection must be/],
    ['an unescaped @', 'mongodb://ann:hunt@hunter2@h/', /percent-encoded/],
    ['an unescaped /', 'mongodb://ann:hunt/hunter2@h/', /percent-encoded/],
    ['an unescaped %', 'mongodb://ann:%hunter2@h/', /percent-encoded/],
  ])('%s is reported before connecting', async (_what, uri, words) => {
    const [failed] = await failedChecks(environment(uri));
    expect(failed).toMatchObject({ name: 'environment', detail: expect.stringMatching(words) as unknown });
    expect(failed!.detail).toContain(_variable);
    if (cluster === 'eu') expect(failed!.detail).toMatch(/\beu\b/);
  });

  describeWith(findProgram('openssl'), 'apt-get install openssl')('of a server that', () => {
    let folder: string;
    let server: Server;
    let port: number;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'scopegate-tls-'));
      const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
      const subject = ['-subj', '/CN=localhost', '-days', '1', '-nodes', '-keyout', key, '-out', cert];
      execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject], { stdio: 'ignore' });
      server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, (socket) => socket.destroy());
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      port = (server.address() as AddressInfo).port;
    });
    afterAll(() => {
      server.close();
      rmSync(folder, { recursive: true });
    });

    test.each([
      ['has a certificate nobody trusts', 'tls=true&', 'the certificate of the server is not trusted', 'tlsCAFile='],
      ['requires TLS', '', 'the server closes connections at once', 'add tls=true'],
    ])('%s', async (_what, option, detail, fix) => {
      const [failed] = await failedChecks(
        environment(`mongodb://127.0.0.1:${String(port)}/?${option}directConnection=true`),
      );
      expect(failed).toMatchObject({ name: check, detail: `cluster ${cluster}: ${detail}` });
      expect(failed!.fix).toContain(fix);
      expect(failed!.fix).toContain(entry);
    });
  });
});

describe('an error of the driver that is', () => {
  test.each<[string, Error, RegExp]>([
    ['Unauthorized', serverError(13, 'not authorized on scopegate to execute command'), /does not allow this user/],
    ["Atlas's for a wrong password", serverError(8000, 'bad auth : authentication failed'), /rejects the user name/],
    [
      'for a mechanism',
      new mongo.MongoServerError({ code: 2, message: 'mechanism PLAIN not enabled' }),
      /way of authentication/,
    ],
  ])('%s has a remedy', (_what, error, words) => {
    expect(connectionFinding('default', new Error('outer', { cause: error }))?.message).toMatch(words);
  });

  test('not known is left as it is', () => {
    expect(connectionFinding('default', serverError(11000, 'duplicate key'))).toBeUndefined();
    expect(connectionFinding('default', 'nothing')).toBeUndefined();
  });

  function serverError(code: number, message: string): mongo.MongoServerError {
    return new mongo.MongoServerError({ code, message });
  }
});

test('a port that something else listens on is not taken for a database', async () => {
  const other = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const [failed] = await failedChecks({ MONGODB_URI: `mongodb://127.0.0.1:${String(port)}/?directConnection=true` });
  other.close();
  expect(failed).toMatchObject({ name: 'database', detail: 'cluster default: the server closes connections at once' });
});
