import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { type Command, replyWith } from '../../../faults/databaseProxy';
import { startDatabase } from '../../operation/database';
import { commandLine } from '../commandLine';
import { acme, at, changed, type Made, type Make, type Place, type Scene, shownAs, through } from './scene';

/* Clusters that cannot be reached, or used. States that the test server cannot have are simulated in its replies. */

/** Every password is hunter2, which doctor must not repeat. */
const USER = 'mongodb://ann:hunter2@';

type MakeAt = (scene: Scene, place: Place) => Promise<Made>;

/** States of either cluster. */
const AT_EITHER: Readonly<Record<string, MakeAt>> = {
  'nothing listens at its address': async (scene, place) => {
    const dead = await startDatabase();
    await dead.stop();
    return { ...at(scene, place, dead.uri), names: [shownAs(place, dead.uri)] };
  },
  'it does not answer, or its replica set has no primary': (scene, place) => {
    scene.other.hold();
    return Promise.resolve({
      ...at(scene, place, scene.other.uri),
      end: () => {
        scene.other.release();
      },
    });
  },
  '`replicaSet` is not the name of its set': async (scene, place) => {
    const proxied = await through(scene, place, (reply, command) =>
      command && ('hello' in command || 'ismaster' in command) ? replyWith(reply, { setName: 'rs0' }) : reply,
    );
    const { cli } = at(scene, place, `${proxied.proxy.uri}&replicaSet=other`);
    return { ...proxied, cli };
  },
  'its host name is not known': (scene, place) =>
    Promise.resolve({
      ...at(scene, place, 'mongodb://db.invalid/?replicaSet=rs0'),
      // what a resolver reports without a network
      names: [['EAI_AGAIN', 'ENOTFOUND']],
    }),
  'wrong password': async (scene, place) => {
    const proxied = await through(scene, place, (reply, command) =>
      command && 'saslStart' in command
        ? replyWith(reply, { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' })
        : reply,
    );
    const { cli } = at(scene, place, proxied.proxy.uri.replace('mongodb://', USER));
    return { ...proxied, cli };
  },
  'no user, or one who may not read': (scene, place) =>
    through(scene, place, (reply, command) =>
      isPublic(command)
        ? reply
        : replyWith(reply, { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'Command requires authentication' }),
    ),
  '`tls=true` to a server without TLS': (scene, place) =>
    listening(scene, place, '?tls=true&directConnection=true', () =>
      // as mongod does
      createServer((socket) => socket.once('data', () => socket.destroy())),
    ),
  'no `tls=true` to a server that requires TLS': (scene, place) =>
    listening(scene, place, '?directConnection=true', () => createServer((socket) => socket.destroy())),
  'a certificate that is not trusted': (scene, place) =>
    listening(scene, place, '?tls=true&directConnection=true', () => {
      const server = createTlsServer(selfSigned(), (socket) => socket.destroy());
      return server.on('tlsClientError', () => undefined);
    }),
  'an option that does not exist': (scene, place) => Promise.resolve(at(scene, place, `${USER}db1/?retryWritez=true`)),
  'an option with a wrong value': (scene, place) => Promise.resolve(at(scene, place, `${USER}db1/?directConnection=1`)),
  'a password that is not percent-encoded': (scene, place) =>
    Promise.resolve(at(scene, place, 'mongodb://ann:hunter2/@hunter2@db1/')),
  'a standalone server': (scene, place) =>
    through(scene, place, (reply, command) =>
      command && ('hello' in command || 'ismaster' in command)
        ? replyWith(reply, { setName: undefined, hosts: undefined, setVersion: undefined, primary: undefined })
        : reply,
    ),
  'MongoDB older than 6.0': (scene, place) =>
    through(scene, place, (reply, command) =>
      command && 'buildInfo' in command ? replyWith(reply, { version: '5.0.31' }) : reply,
    ),
  'a transaction limit above 15 s': (scene, place) =>
    through(scene, place, (reply, command) =>
      command && 'getParameter' in command ? replyWith(reply, { ok: 1, transactionLifetimeLimitSeconds: 60 }) : reply,
    ).then((made) => (place === 'eu' ? withLimitedMain(scene, made) : made)),
};

/** States of the environment, of Redis and of clusters together. */
const OTHERS: Readonly<Record<string, Make>> = {
  'a variable with an invalid value': () => Promise.resolve({ cli: commandLine({ PORT: 'x' }) }),
  'the same, in the file of `MONGODB_URI_FILE`': async () => {
    const file = join(await mkdtemp(join(tmpdir(), 'scopegate-secret-')), 'uri');
    await writeFile(file, 'mongodb://ann:hunter2/@hunter2@db1/\n');
    const cli = commandLine({ MONGODB_URI: '', MONGODB_URI_FILE: file });
    return { cli, end: () => rm(dirname(file), { recursive: true }) };
  },
  'Redis does not respond': (scene) =>
    Promise.resolve({
      cli: changed(at(scene, 'default').cli, { REDIS_URL: 'redis://ann:hunter2@127.0.0.1:1' }),
      names: [['127.0.0.1:1)', '127.0.0.1:6379)']],
    }),
  'eu: it is away while the others work': async (scene) => {
    const made = at(scene, 'eu', scene.other.uri);
    await acme(made.cli, 'eu', { isStocked: false });
    scene.other.hold();
    return {
      ...made,
      end: () => {
        scene.other.release();
      },
    };
  },
};

export const CONNECTING: Readonly<Record<string, Make>> = {
  ...OTHERS,
  ...Object.fromEntries(
    Object.entries(AT_EITHER).flatMap(([state, make]) =>
      (['default', 'eu'] as const).map((place): [string, Make] => [
        `${place}: ${state}`,
        (scene) => make(scene, place),
      ]),
    ),
  ),
};

/** Commands that anyone may send. */
function isPublic(command: Command | undefined): boolean {
  return (
    command === undefined || ['hello', 'ismaster', 'buildInfo', 'ping', 'endSessions'].some((name) => name in command)
  );
}

/** Both clusters report their limits, and the first one's is correct. */
async function withLimitedMain(scene: Scene, made: Made): Promise<Made> {
  const main = await through(scene, 'default', (reply, command) =>
    command && 'getParameter' in command ? replyWith(reply, { ok: 1, transactionLifetimeLimitSeconds: 15 }) : reply,
  );
  return {
    cli: changed(made.cli, { MONGODB_URI: main.proxy.uri }),
    end: async () => {
      await made.end?.();
      await main.proxy.close();
    },
  };
}

/** A cluster whose address belongs to a server that is not a database. */
async function listening(scene: Scene, place: Place, options: string, create: () => Server): Promise<Made> {
  const server = create().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const uri = `mongodb://127.0.0.1:${String((server.address() as AddressInfo).port)}/${options}`;
  return { ...at(scene, place, uri), names: [shownAs(place, uri)], end: () => server.close() };
}

function selfSigned(): { key: Buffer; cert: Buffer } {
  const folder = mkdtempSync(join(tmpdir(), 'scopegate-tls-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-days', '1', '-nodes', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', ...subject], { stdio: 'ignore' });
  const pair = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  return pair;
}
