import { mongo } from 'mongoose';
import { type Command, type DatabaseProxy, openDatabaseProxy, replyWith } from '../../faults/databaseProxy';

/*
 * A stand-in for mongos in front of the database of the tests, which keeps all data: it answers what only mongos answers. The shapes of the
 * replies are those of MongoDB's manual (hello, listShards, enableSharding, movePrimary) and of the rows of config.databases in the server's
 * own tests (jstests/sharding). What a shard that is down does to a command was
 * seen on a real sharded cluster of 5.1: mongos looks for a primary for as long as maxTimeMS allows, or 15 s.
 */

export interface FakeShard {
  readonly _id: string;
  readonly draining?: boolean;
}

export interface FakeMongos extends AsyncDisposable {
  /** Connection string through the stand-in. */
  readonly uri: string;
  /** The shards that it has. */
  shards: FakeShard[];
  /** The shards that do not respond. */
  readonly down: Set<string>;
  /** The shards of databases by name; others get the first shard when they are written. */
  readonly databases: Map<string, string>;
  /** The commands that only mongos knows, in order. */
  readonly commands: Command[];
  /** Databases that the user may not see in the config database. */
  readonly hidden: Set<string>;
  /** How many commands a database, or a collection of it, has got. */
  asked(database: string, collection?: string): number;
  /** What it answers to a command, by its name, instead of what it would; undefined for that. */
  replies: Record<string, (command: Command) => Reply | undefined | Promise<Reply>>;
  close(): Promise<void>;
}

type Reply = Readonly<Record<string, unknown>>;

const OK = { ok: 1, code: undefined, codeName: undefined, errmsg: undefined } as const;
const MONGOS_ONLY = ['listShards', 'enableSharding', 'movePrimary'];
/** How long mongos looks for a shard's primary if the command has no time limit, in milliseconds. */
const LOOKS_FOR = 15_000;

export const refusal = (code: number, codeName: string, errmsg: string): Reply => ({ ok: 0, code, codeName, errmsg });
export const UNAUTHORISED = refusal(13, 'Unauthorized', 'not authorized on admin to execute command');

export async function startMongos(
  names: readonly string[],
  target = process.env.TEST_MONGODB_URI!,
): Promise<FakeMongos> {
  const proxy: DatabaseProxy = await openDatabaseProxy(target, {
    onReply: (reply, command) => (command ? answer(reply, command) : reply),
  });
  const asked = new Map<string, number>();
  const count = (name: string): unknown => asked.set(name, (asked.get(name) ?? 0) + 1);
  const self: FakeMongos = {
    uri: proxy.uri,
    shards: names.map((_id) => ({ _id })),
    down: new Set(),
    databases: new Map(),
    commands: [],
    replies: {},
    hidden: new Set(),
    close: () => proxy.close(),
    asked: (database, collection) => asked.get(collection === undefined ? database : `${database}.${collection}`) ?? 0,
    [Symbol.asyncDispose]: () => proxy.close(),
  };

  async function answer(reply: Buffer, command: Command): Promise<Buffer> {
    const [name = ''] = Object.keys(command);
    const db = String(command.$db);
    if (MONGOS_ONLY.includes(name)) self.commands.push(command);
    count(db);
    count(`${db}.${String(command[name])}`);
    const special = await self.replies[name]?.(command);
    if (name === 'hello' || name === 'ismaster' || name === 'isMaster')
      return replyWith(reply, { ...asMongos(), ...special });
    if (special) return replyWith(reply, { ...OK, ...special });
    if (MONGOS_ONLY.includes(name)) return replyWith(reply, { ...OK, ...ofCluster(name, command) });
    if (db === 'config') return replyWith(reply, { ...OK, cursor: cursorOf(command) });
    if (/^(admin|local)$/.test(db)) return reply;
    const shard = self.databases.get(db) ?? self.shards[0]!._id;
    if (!self.down.has(shard)) {
      if (['insert', 'update', 'findAndModify', 'createIndexes'].includes(name)) self.databases.set(db, shard);
      return reply;
    }
    const { maxTimeMS } = command;
    const waits = typeof maxTimeMS === 'number' ? maxTimeMS : LOOKS_FOR;
    // for long ones longer than a real one, so that a slow machine does not see their end
    await new Promise((resolve) => setTimeout(resolve, waits < 10_000 ? waits : 2.5 * waits));
    if (typeof maxTimeMS === 'number')
      return replyWith(reply, refusal(50, 'MaxTimeMSExpired', 'operation exceeded time limit'));
    const why = `Could not find host matching read preference { mode: "primary" } for set ${shard}`;
    return replyWith(reply, refusal(133, 'FailedToSatisfyReadPreference', why));
  }

  /** No member says that it is in a set. */
  const asMongos = (): Reply => ({
    setName: undefined,
    setVersion: undefined,
    hosts: undefined,
    primary: undefined,
    me: undefined,
    electionId: undefined,
    lastWrite: undefined,
    secondary: undefined,
    msg: 'isdbgrid',
    isWritablePrimary: true,
    ismaster: true,
  });

  function ofCluster(name: string, command: Command): Reply {
    const shardNamed = (shard: unknown) => self.shards.find(({ _id }) => _id === shard);
    switch (name) {
      case 'listShards':
        return {
          shards: self.shards.map(({ _id, draining }) => ({
            _id,
            host: `${_id}/host1:27018,host2:27018,host3:27018`,
            state: 1,
            ...(draining && { draining }),
          })),
        };
      case 'enableSharding': {
        const [database, shard] = [String(command.enableSharding), String(command.primaryShard)];
        const there = self.databases.get(database);
        if (!shardNamed(shard)) return refusal(70, 'ShardNotFound', `Shard ${shard} does not exist`);
        if (there !== undefined && there !== shard)
          return refusal(48, 'NamespaceExists', `database already created on ${there}`);
        self.databases.set(database, shard);
        return {};
      }
      default: {
        const to = shardNamed(command.to);
        if (!to || to.draining) return refusal(70, 'ShardNotFound', `Requested primary shard ${String(command.to)} …`);
        self.databases.set(String(command.movePrimary), to._id);
        return {};
      }
    }
  }

  /** The rows of config.databases that a find or the one aggregation asks for. */
  function cursorOf(command: Command): Reply {
    const collection = String(command.find ?? command.aggregate);
    const shown = [...self.databases].filter(([database]) => !self.hidden.has(database));
    const rows: Record<string, unknown>[] = shown.map(([_id, primary]) => ({ _id, primary, partitioned: false }));
    const stages = (command.pipeline ?? []) as { readonly $match?: object }[];
    const filter = (command.filter ?? stages[0]?.$match ?? {}) as Record<string, unknown>;
    const found = rows.filter((row) => Object.entries(filter).every(([key, wanted]) => isMatch(row[key], wanted)));
    const counts = new Map<string, number>();
    for (const { primary } of found) counts.set(String(primary), (counts.get(String(primary)) ?? 0) + 1);
    const firstBatch = command.aggregate === undefined ? found : [...counts].map(([_id, count]) => ({ _id, count }));
    return { id: mongo.Long.ZERO, ns: `config.${collection}`, firstBatch };
  }

  return self;
}

function isMatch(value: unknown, wanted: unknown): boolean {
  if (wanted instanceof RegExp) return wanted.test(String(value));
  if (wanted instanceof mongo.BSONRegExp) return new RegExp(wanted.pattern).test(String(value));
  const { $in } = (wanted ?? {}) as { readonly $in?: readonly unknown[] };
  return $in ? $in.includes(value) : value === wanted;
}
