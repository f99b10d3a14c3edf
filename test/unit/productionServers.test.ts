import type { Check, DoctorContext } from '../../src/cli/doctor/check';
import { LATE, OLDEST } from '../../src/cli/doctor/environment';
import { checkEvents } from '../../src/cli/doctor/events';
import { checkLogWindow, checkMembers, checkOpenFiles, checkUnseenLimit } from '../../src/cli/doctor/productionServers';
import { checkTransactionLimit } from '../../src/cli/doctor/servers';
import { checkFiles } from '../../src/cli/doctor/storage';
import { readConfig } from '../../src/config';
import { read } from '../docs/markdown';

/* Doctor's checks of servers that no test has: of several members, of Atlas, with many hosts. */

const PAGE = read('docs/guides/doctor.md');
const OWN = 'mongodb://127.0.0.1/';
const ATLAS = 'mongodb+srv://user:secret@acme.abc12.mongodb.net/';
const COUNTS = new Map([['', { organisations: 1, collections: 2, indexes: 4 }]]);

interface Servers {
  readonly uri?: string;
  readonly hello?: object;
  readonly isSharded?: boolean;
  readonly limit?: number;
  readonly hosts?: number;
  readonly most?: number;
  /** Whether the user may not read the log's length. */
  readonly isHidden?: boolean;
}

function context({
  uri = OWN,
  hello = {},
  isSharded = false,
  limit,
  hosts = 1,
  most = 100,
  isHidden = false,
}: Servers) {
  // an hour of log
  const oldest = isHidden ? undefined : { ts: { t: Date.now() / 1000 - 3600 } };
  const client = {
    watch: () => ({
      cursor: { once: () => undefined, cursorInit: () => Promise.resolve() },
      close: () => Promise.resolve(),
    }),
    db: () => ({
      collection: (name: string) => ({ findOne: () => Promise.resolve(name === 'oplog.rs' ? oldest : null) }),
    }),
  };
  const databases = {
    ...(isSharded && { shards: {} }),
    control: { name: 'scopegate' },
    hello: () => Promise.resolve(hello),
    hosts: () => hosts,
    pool: () => ({ most }),
    now: () => Date.now(),
    gatewaySeenAt: () => Promise.resolve(undefined),
    transactionLimit: () => Promise.resolve(limit),
    streams: () => Promise.resolve(client),
  };
  return {
    store: { databases },
    config: readConfig({ MONGODB_URI: uri, MAX_CONNECTIONS: '1' }),
  } as unknown as DoctorContext;
}

const outcome = (check: Check | undefined): string | undefined =>
  check && (check.ok ? (check.fix ? 'warn' : 'ok') : 'failed');

test.each<[string, Servers, string, string]>([
  ['three', { hello: { hosts: ['a', 'b', 'c'], arbiters: ['d'] } }, 'ok', '3 members of the replica set hold data'],
  ['one that cannot become primary', { hello: { hosts: ['a', 'b'], passives: ['c'] } }, 'ok', '3 members'],
  ['an arbiter', { hello: { hosts: ['a', 'b'], arbiters: ['c'] } }, 'warn', '2 members'],
  ['one', { hello: { hosts: ['a'] } }, 'warn', '1 member of the replica set holds data'],
  [
    'those of shards, which are not seen',
    { isSharded: true },
    'ok',
    'not seen from here: look on each shard (rs.conf())',
  ],
])('members: %s', async (_title, servers, expected, words) => {
  const check = await checkMembers(context(servers));
  expect([outcome(check), check.detail]).toEqual([expected, expect.stringContaining(words)]);
});

test('the page about doctor has what it says of members', async () => {
  const [one, ofShards] = [
    await checkMembers(context({ hello: { hosts: ['a'] } })),
    await checkMembers(context({ isSharded: true })),
  ];
  expect(PAGE).toContain(`\`warn ${one.name}: ${one.detail}\` | \`${one.fix!}\``);
  expect(PAGE).toContain(`\`ok ${ofShards.name}: ${ofShards.detail}\``);
});

test('what only shards know is said to be there, and not left out', async () => {
  const shards = context({ isSharded: true });
  for (const check of [await checkUnseenLimit(shards), await checkLogWindow(shards)])
    expect(check).toMatchObject({ ok: true, detail: expect.stringContaining('look on each shard') as unknown });
});

test('log window: a database to which nothing more connects is a failed check, and not the end of all', async () => {
  const { store, ...rest } = context({});
  const streams = () => Promise.reject(new Error('connection refused'));
  const check = await checkLogWindow({ ...rest, store: { ...store, databases: { ...store.databases, streams } } });
  expect(check).toMatchObject({ ok: false, detail: 'connection refused' });
});

test('a transaction limit that is not seen has a line, and one that is has none beside its own', async () => {
  const check = await checkUnseenLimit(context({}));
  expect(PAGE).toContain(`\`ok ${check!.name}: ${check!.detail}\``);
  expect(await checkUnseenLimit(context({ limit: 15 }))).toBeUndefined();
});

test('open files: each host takes connections', async () => {
  const neededBy = async (servers: Servers) =>
    Number(/(\d+) needed$/.exec((await checkOpenFiles(context(servers))).detail)?.[1]);
  expect(await neededBy({})).toBe(1 + 128 + 384);
  expect(await neededBy({ hello: { hosts: ['a', 'b', 'c'] } })).toBe(1 + 3 * 128 + 384);
  expect(await neededBy({ isSharded: true, hosts: 4, most: 50 })).toBe(1 + 4 * 78 + 384);
  expect(await neededBy({ most: Infinity })).toBe(1 + 2028 + 384);
  const { ok, detail, fix } = await checkOpenFiles(context({ isSharded: true, hosts: 1_000_000 }));
  expect([ok, detail]).toEqual([false, expect.stringContaining('1000000 hosts of MONGODB_URI can take 128 each')]);
  expect(fix).toContain('srvMaxHosts in MONGODB_URI');
});

test('on Atlas fixes name its settings, and elsewhere commands', async () => {
  const fixes = async (uri: string) => {
    const checks = [checkTransactionLimit(context({ uri, limit: 60 })), checkLogWindow(context({ uri }))];
    return (await Promise.all([...checks, checkEvents(context({ uri, isHidden: true }))])).map((check) => check?.fix);
  };
  expect(await fixes(ATLAS)).toEqual([
    expect.stringContaining('the transaction lifetime (Additional Settings)'),
    expect.stringContaining('the minimum oplog window (Additional Settings)'),
    expect.stringMatching(/clusterMonitor in Atlas, under Database Access$/),
  ]);
  expect(await fixes(OWN)).toEqual([
    expect.stringContaining('mongod --setParameter'),
    expect.stringContaining('storage.oplogMinRetentionHours'),
    expect.stringContaining('grantRolesToUser'),
  ]);
});

describe('on Atlas', () => {
  afterEach(() => {
    delete process.env.SHARD_FILES;
  });
  const files = (uri: string) => checkFiles(context({ uri }), COUNTS)[0];

  test('the default of SHARD_FILES is a warning, since it is for other servers', () => {
    expect(outcome(files(ATLAS))).toBe('warn');
    expect(PAGE.replaceAll('\n', ' ')).toContain(`\`${files(ATLAS)!.fix!}\``);
    expect(outcome(files(OWN))).toBe('ok');
    process.env.SHARD_FILES = '60000';
    expect(outcome(files(ATLAS))).toBe('ok');
  });
});

test("the oldest Node is that of package.json, and how late the operator's webhook may be that of its alert", () => {
  expect(JSON.parse(read('package.json'))).toMatchObject({ engines: { node: `>=${OLDEST.join('.')}` } });
  expect(read('deploy/prometheus/alerts.yml')).toContain(
    `scopegate_operator_webhook_behind_seconds > ${String(LATE)}\n`,
  );
});
