import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Organisation } from '../../src/auth/principal';
import { erase } from '../../src/cli/erase';
import { openStore, type Store } from '../../src/cli/store';
import { readConfig } from '../../src/config';
import { databaseName } from '../../src/mongo/databaseNames';
import type { TestGateway } from '../support/gateway';
import { oldServers } from '../support/oldServers';

/* `scopegate org erase` with connections of its own, and what it leaves. */

/** What the command has open. */
export function openOwn(CONTROL_DATABASE: string): Promise<Store> {
  const config = readConfig({ ...oldServers(), MONGODB_URI: process.env.TEST_MONGODB_URI, CONTROL_DATABASE });
  return openStore(config, () => undefined);
}

/** Runs the command, without export if there is no folder. */
export function erasedBy(
  own: Store,
  { id, name }: Organisation,
  folder?: string,
  signal = new AbortController().signal,
): Promise<string | undefined> {
  return erase(own, { id, confirm: name, folder, signal });
}

/** Whether an organisation has a database. */
export async function isListed({ databases }: TestGateway, { id }: Organisation): Promise<boolean> {
  const listed = await databases.control.getClient().db('admin').admin().listDatabases({ nameOnly: true });
  return listed.databases.some(({ name }) => name === databaseName(id));
}

/** The lines of a file of an export. */
export async function linesOf(folder: string, file: string): Promise<string[]> {
  return (await readFile(join(folder, `${file}.ndjson`), 'utf8')).trimEnd().split('\n');
}
