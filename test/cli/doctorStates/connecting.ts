import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { replyWith } from '../../../faults/databaseProxy';
import { startDatabase } from '../../operations/database';
import { plansFile } from '../../support/plansFile';
import { refusingRedis } from '../../support/refusingRedis';
import { commandLine, makeOrganisation, newFolder } from '../commandLine';
import {
  at,
  changed,
  type Made,
  replying,
  type Scene,
  shownAs,
  type States,
  through,
} from '../../support/fixtures/doctorStates';

/* Databases that cannot be reached, or used. States that the test server cannot have are simulated in its replies. */

/** Every password is hunter2, which doctor must not repeat. */
const USER = 'mongodb://ann:hunter2@';

/** How the driver asks what a server is. */
const HELLO = ['hello', 'ismaster'];
/** Commands that anyone may send. */
const PUBLIC = [...HELLO, 'buildInfo', 'ping', 'endSessions'];

/** States of the environment and of Redis. */
const OTHERS: States = {
  'a variable with an invalid value': () => ({ cli: commandLine({ PORT: 'x' }) }),
  'the same, in the file of `MONGODB_URI_FILE`': async () => {
    const file = join(await newFolder(), 'uri');
    await writeFile(file, 'mongodb://ann:hunter2/@hunter2@db1/\n');
    return { cli: commandLine({ MONGODB_URI: '', MONGODB_URI_FILE: file }) };
  },
  '`MONGODB_CLUSTERS` of the version before': () => ({
    cli: commandLine({ MONGODB_CLUSTERS: 'eu=mongodb://ann:hunter2@db1/' }),
  }),
  'several gateways without Redis': (scene) => ({ cli: changed(at(scene).cli, { INSTANCES: '2' }) }),
  'an organisation is on a plan that `PLANS_FILE` lacks': async (scene) => {
    const { cli } = at(scene);
    const PLANS_FILE = plansFile({ plans: { growth: { api: true } }, default: 'growth' });
    await makeOrganisation(changed(cli, { PLANS_FILE }));
    return { cli };
  },
  'Redis does not respond': (scene) => ({
    cli: changed(at(scene).cli, { REDIS_URL: 'redis://ann:hunter2@127.0.0.1:1' }),
    names: [['127.0.0.1:1)', '127.0.0.1:6379)']],
  }),
  'Redis rejects the password of `REDIS_URL_FILE`': async (scene) => {
    const redis = await refusingRedis();
    const file = join(await newFolder(), 'redis-url');
    await writeFile(file, `redis://ann:hunter2@127.0.0.1:${String(redis.port)}\n`);
    return {
      cli: changed(at(scene).cli, { REDIS_URL_FILE: file }),
      end: () => {
        redis.close();
      },
    };
  },
};

export const CONNECTING: States = {
  ...OTHERS,
  'nothing listens at its address': async (scene) => {
    const dead = await startDatabase();
    await dead.stop();
    return { ...at(scene, dead.uri), names: [shownAs(dead.uri)] };
  },
  'it does not answer, or its replica set has no primary': (scene) => held(scene, at(scene, scene.other.uri)),
  '`replicaSet` is not the name of its set': async (scene) => {
    const proxied = await replying(scene, HELLO, { setName: 'rs0' });
    return { ...proxied, cli: at(scene, `${proxied.proxy.uri}&replicaSet=other`).cli };
  },
  'its host name is not known': (scene) => ({
    ...at(scene, 'mongodb://db.invalid/?replicaSet=rs0'),
    // what a resolver reports without a network
    names: [['EAI_AGAIN', 'ENOTFOUND']],
  }),
  'wrong password': async (scene) => {
    const failed = { ok: 0, code: 18, codeName: 'AuthenticationFailed', errmsg: 'Authentication failed.' };
    const proxied = await replying(scene, ['saslStart'], failed);
    return { ...proxied, cli: at(scene, proxied.proxy.uri.replace('mongodb://', USER)).cli };
  },
  'no user, or one who may not read': (scene) =>
    through(scene, (reply, command) =>
      command === undefined || PUBLIC.some((name) => name in command)
        ? reply
        : replyWith(reply, { ok: 0, code: 13, codeName: 'Unauthorized', errmsg: 'Command requires authentication' }),
    ),
  '`tls=true` to a server without TLS': (scene) =>
    listening(scene, '?tls=true&directConnection=true', () =>
      // as mongod does
      createServer((socket) => socket.once('data', () => socket.destroy())),
    ),
  'no `tls=true` to a server that requires TLS': (scene) =>
    listening(scene, '?directConnection=true', () => createServer((socket) => socket.destroy())),
  'a certificate that is not trusted': (scene) =>
    listening(scene, '?tls=true&directConnection=true', () => {
      const server = createTlsServer(selfSigned(), (socket) => socket.destroy());
      return server.on('tlsClientError', () => undefined);
    }),
  'an option that does not exist': (scene) => at(scene, `${USER}db1/?retryWritez=true`),
  'reads from a secondary': (scene) => at(scene, `${USER}db1/?readPreference=secondaryPreferred`),
  'an option with a wrong value': (scene) => at(scene, `${USER}db1/?directConnection=1`),
  'a password that is not percent-encoded': (scene) => at(scene, 'mongodb://ann:hunter2/@hunter2@db1/'),
  'a standalone server': (scene) =>
    replying(scene, HELLO, {
      setName: undefined,
      hosts: undefined,
      setVersion: undefined,
      primary: undefined,
    }),
  'MongoDB older than 6.0': async (scene) => {
    const made = await replying(scene, ['buildInfo'], { version: '5.0.31' });
    return { ...made, cli: changed(made.cli, { ALLOW_OLD_MONGODB: '' }) };
  },
  'a transaction limit above 15 s': (scene) =>
    replying(scene, ['getParameter'], { ok: 1, transactionLifetimeLimitSeconds: 60 }),
};

/** While the other server hangs. */
function held({ other }: Scene, made: Made): Made {
  other.hold();
  return {
    ...made,
    end: () => {
      other.release();
    },
  };
}

/** An address that belongs to a server that is not a database. */
async function listening(scene: Scene, options: string, create: () => Server): Promise<Made> {
  const server = create().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const uri = `mongodb://127.0.0.1:${String((server.address() as AddressInfo).port)}/${options}`;
  return { ...at(scene, uri), names: [shownAs(uri)], end: () => server.close() };
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
