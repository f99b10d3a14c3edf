import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { replyWith } from '../../../faults/databaseProxy';
import { startDatabase } from '../../operation/database';
import { commandLine, newFolder } from '../commandLine';
import {
  acme,
  at,
  atEither,
  changed,
  type Made,
  type Place,
  replying,
  type Scene,
  shownAs,
  type States,
  through,
} from './scene';

/* Clusters that cannot be reached, or used. States that the test server cannot have are simulated in its replies. */

/** Every password is hunter2, which doctor must not repeat. */
const USER = 'mongodb://ann:hunter2@';

/** How the driver asks what a server is. */
const HELLO = ['hello', 'ismaster'];
/** Commands that anyone may send. */
const PUBLIC = [...HELLO, 'buildInfo', 'ping', 'endSessions'];

/** States of the environment, of Redis and of clusters together. */
const OTHERS: States = {
  'a variable with an invalid value': () => ({ cli: commandLine({ PORT: 'x' }) }),
  'the same, in the file of `MONGODB_URI_FILE`': async () => {
    const file = join(await newFolder(), 'uri');
    await writeFile(file, 'mongodb://ann:hunter2/@hunter2@db1/\n');
    return { cli: commandLine({ MONGODB_URI: '', MONGODB_URI_FILE: file }) };
  },
  'Redis does not respond': (scene) => ({
    cli: changed(at(scene, 'default').cli, { REDIS_URL: 'redis://ann:hunter2@127.0.0.1:1' }),
    names: [['127.0.0.1:1)', '127.0.0.1:6379)']],
  }),
  'eu: it is away while the others work': async (scene) => {
    const made = at(scene, 'eu', scene.other.uri);
    await acme(made.cli, 'eu', { isStocked: false });
    return held(scene, made);
  },
};

export const CONNECTING: States = {
  ...OTHERS,
  ...atEither({
    'nothing listens at its address': async (scene, place) => {
      const dead = await startDatabase();
      await dead.stop();
      return { ...at(scene, place, dead.uri), names: [shownAs(place, dead.uri)] };
    },
    'it does not answer, or its replica set has no primary': (scene, place) =>
      held(scene, at(scene, place, scene.other.uri)),
    '`replicaSet` is not the name of its set': async (scene, place) => {
      const proxied = await replying(scene, place, HELLO, { setName: 'rs0' });
      return { ...proxied, cli: at(scene, place, `${proxied.proxy.uri}&replicaSet=other`).cli };
    },
    'its host name is not known': (scene, place) => ({
      ...at(scene, place, 'mongodb://db.invalid/?replicaSet=rs0'),
      // what a resolver reports without a network
      names: [['EAI_AGAIN', 'ENOTFOUND']],
    }),
    'wrong password': async (scene, place) => {
      const failed = { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' };
      const proxied = await replying(scene, place, ['saslStart'], failed);
      return { ...proxied, cli: at(scene, place, proxied.proxy.uri.replace('mongodb://', USER)).cli };
    },
    'no user, or one who may not read': (scene, place) =>
      through(scene, place, (reply, command) =>
        command === undefined || PUBLIC.some((name) => name in command)
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
    'an option that does not exist': (scene, place) => at(scene, place, `${USER}db1/?retryWritez=true`),
    'an option with a wrong value': (scene, place) => at(scene, place, `${USER}db1/?directConnection=1`),
    'a password that is not percent-encoded': (scene, place) => at(scene, place, 'mongodb://ann:hunter2/@hunter2@db1/'),
    'a standalone server': (scene, place) =>
      replying(scene, place, HELLO, {
        ...{ setName: undefined, hosts: undefined, setVersion: undefined, primary: undefined },
      }),
    'MongoDB older than 6.0': (scene, place) => replying(scene, place, ['buildInfo'], { version: '5.0.31' }),
    'a transaction limit above 15 s': async (scene, place) => {
      const limit = (seconds: number) => ({ ok: 1, transactionLifetimeLimitSeconds: seconds });
      const made = await replying(scene, place, ['getParameter'], limit(60));
      if (place === 'default') return made;
      // both clusters report their limits, and the first one's is correct
      const main = await replying(scene, 'default', ['getParameter'], limit(15));
      return {
        cli: changed(made.cli, { MONGODB_URI: main.proxy.uri }),
        end: () => Promise.all([made.proxy.close(), main.proxy.close()]),
      };
    },
  }),
};

/** While the third server hangs. */
function held({ other }: Scene, made: Made): Made {
  other.hold();
  return {
    ...made,
    end: () => {
      other.release();
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
