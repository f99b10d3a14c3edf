import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import mongoose from 'mongoose';
import { databaseName } from '../../src/database/organisationData';
import { type OwnDatabase, startDatabase } from '../operation/database';
import { late } from '../support/gateway';
import type { KillOptions } from '../support/kills';
import { type CommandLine, commandLine, type Finished, NORTHWIND } from './commandLine';

/* Two clusters, `default` and `eu`, and organisations that move from one to the other. */

export interface Organisation {
  readonly id: string;
  readonly name: string;
}

type MoveScene = Awaited<ReturnType<typeof makeScene>>;

/** Starts the second cluster for the tests of a file. */
export function moveScene(): MoveScene {
  const scene = late(makeScene);
  afterAll(() => scene.close());
  return scene;
}

async function makeScene() {
  const eu: OwnDatabase = await startDatabase();
  const here = await mongoose.createConnection(process.env.TEST_MONGODB_URI!).asPromise();
  const there = await mongoose.createConnection(eu.uri).asPromise();
  const cli: CommandLine = commandLine({ MONGODB_CLUSTERS: `eu=${eu.uri}` });
  /** Commands that reach the second cluster through another address. */
  const through = (uri: string): { MONGODB_CLUSTERS: string } => ({ MONGODB_CLUSTERS: `eu=${uri}` });
  const ofEu: KillOptions = { server: { uri: eu.uri, through } };
  return {
    ...{ eu, here, there, cli, through, ofEu },
    async organisation(name = `Moved ${randomBytes(4).toString('hex')}`): Promise<Organisation> {
      const { id } = await cli.json<Organisation>('org', 'create', '--name', name, '--cluster', 'default');
      await cli.json('import', '--org', id, join(NORTHWIND, 'products.ndjson'));
      return { id, name };
    },
    show: ({ id }: Organisation): Promise<Record<string, unknown>> => cli.json('org', 'show', id),
    /** Fails while writes are refused. */
    write: ({ id }: Organisation): Promise<Finished> =>
      cli.run('import', '--org', id, join(NORTHWIND, 'customers.ndjson')),
    /** Makes a killed process, or a move, appear to be long ago. */
    async age({ id }: Organisation): Promise<void> {
      const rows = here.useDb(cli.controlDatabase).collection<{ _id: string }>('organisations');
      const before = new Date(Date.now() - 60_000);
      await rows.updateOne({ _id: id, move: { $exists: true } }, { $set: { 'move.seen_at': before } });
      await rows.updateOne({ _id: id, copies: { $exists: true } }, { $set: { 'copies.$[].left_at': new Date(0) } });
    },
    async close(): Promise<void> {
      await Promise.all([here.close(), there.close()]);
      await eu.stop();
    },
  };
}

export const move = ({ id }: Organisation): string[] => ['org', 'move', id, '--to', 'eu'];

export function databaseOf(connection: mongoose.Connection, { id }: Organisation): mongoose.mongo.Db {
  return connection.getClient().db(databaseName(id));
}

/** Every document and index of an organisation on a cluster, except rows of open writes. */
export async function contents(connection: mongoose.Connection, of: Organisation): Promise<Record<string, unknown>> {
  const database = databaseOf(connection, of);
  const names = (await database.listCollections().toArray())
    .map(({ name }) => name)
    .filter((name) => name !== 'open_writes');
  const all = names.sort().map(async (name) => {
    const rows = await database.collection(name).find().sort({ _id: 1 }).toArray();
    const indexes = (await database.collection(name).indexes()).map(({ name: index }) => index).sort();
    return [name, { rows, indexes }] as const;
  });
  return Object.fromEntries(await Promise.all(all));
}
