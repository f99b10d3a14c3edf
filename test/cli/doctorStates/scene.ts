import { hostname } from 'node:os';
import { mongo } from 'mongoose';
import { type DatabaseProxy, openDatabaseProxy, type ProxyOptions, replyWith } from '../../../faults/databaseProxy';
import { databaseName } from '../../../src/database/organisationData';
import { type OwnDatabase, startDatabase } from '../../operation/database';
import { type CommandLine, commandLine, type Environment, NORTHWIND } from '../commandLine';

/* The servers of the states, and helpers to set them up. */

export interface Scene {
  readonly main: OwnDatabase;
  /** A server that hangs in some states. */
  readonly other: OwnDatabase;
}

/** A state in which doctor is to be run. */
export interface Made {
  readonly cli: CommandLine;
  /** Of doctor. */
  readonly args?: readonly string[];
  /** What doctor prints here, and how the page writes it. */
  readonly names?: readonly Name[];
  /** Needs a separate process. */
  readonly isAlone?: true;
  readonly end?: () => unknown;
}

type Name = readonly [here: string | RegExp, there: string];
export type Make = (scene: Scene) => Made | Promise<Made>;
export type States = Readonly<Record<string, Make>>;

export async function openScene(): Promise<Scene & { close(): Promise<void> }> {
  const [main, other] = await Promise.all([startDatabase(), startDatabase()]);
  return {
    ...{ main, other },
    async close() {
      for (const one of [main, other]) await one.stop();
    },
  };
}

/** What the page calls the address of the database. */
const SHOWN = '127.0.0.1:27017';
const ID = '3f2504e0-4f89-41d3-9a0c-0305e82c3301';

const hostOf = (uri: string): string => new URL(uri).host;

/** What differs between machines in every state. */
export function alwaysNamed({ main }: Scene, { controlDatabase }: CommandLine): Name[] {
  return [
    [hostOf(main.uri), SHOWN],
    [controlDatabase, 'scopegate'],
    [`(${hostname()})`, '(gateway-1)'],
  ];
}

/** The command line with a URI. */
export function at(scene: Scene, uri = scene.main.uri): Made {
  return { cli: commandLine({ MONGODB_URI: uri }) };
}

/** The same command line with other variables. */
export function changed({ environment }: CommandLine, more: Environment): CommandLine {
  return commandLine({ ...environment, ...more });
}

/** The same with a database whose replies are modified. */
export async function through(scene: Scene, onReply: ProxyOptions['onReply']): Promise<Proxied> {
  const proxy = await openDatabaseProxy(scene.main.uri, { onReply });
  const made = at(scene, proxy.uri);
  return { ...made, proxy, names: [[hostOf(proxy.uri), SHOWN]], end: () => proxy.close() };
}

type Reply = Readonly<Record<string, unknown>>;

/** The same with other members in its replies to some commands. */
export function replying(scene: Scene, commands: readonly string[], change: Reply | (() => Reply)): Promise<Proxied> {
  return through(scene, (reply, command) =>
    command && commands.some((name) => name in command)
      ? replyWith(reply, typeof change === 'function' ? change() : change)
      : reply,
  );
}

export interface Proxied extends Made {
  readonly proxy: DatabaseProxy;
}

/** A URI that is not a database's, as on the page. */
export function shownAs(uri: string): Name {
  return [hostOf(uri), SHOWN];
}

/** The names of an organisation. */
export function organisationNames(id: string): Name[] {
  return [
    [id, ID],
    [databaseName(id), databaseName(ID)],
  ];
}

/** Creates an organisation, with products if it should have a database. */
export async function acme(cli: CommandLine, { isStocked = true } = {}): Promise<string> {
  const { id } = await cli.json<{ id: string }>('org', 'create', '--name', 'Acme');
  if (isStocked) await cli.json('import', '--org', id, `${NORTHWIND}/products.ndjson`);
  return id;
}

export async function onServer<T>({ uri }: OwnDatabase, work: (client: mongo.MongoClient) => Promise<T>): Promise<T> {
  await using client = await mongo.MongoClient.connect(uri);
  return await work(client);
}

/** Drops a server's organisations that belong to the control databases of other states. */
export function clear(server: OwnDatabase): Promise<void> {
  return onServer(server, async (client) => {
    const { databases } = await client.db('admin').admin().listDatabases({ nameOnly: true });
    for (const { name } of databases) if (name.startsWith('org_')) await client.db(name).dropDatabase();
  });
}
