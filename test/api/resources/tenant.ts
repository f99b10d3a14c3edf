import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../../src/auth/principal';
import { databaseName } from '../../../src/mongo/databaseNames';
import { client, type Client, type Json } from '../../support/client';
import { makeKey, makeOrganisation } from '../../support/factories';
import type { TestGateway } from '../../support/gateway';

/* An organisation with a key, and the collections and indexes that it has. */

export interface Tenant {
  readonly gateway: TestGateway;
  readonly organisation: Organisation;
  readonly caller: Client;
  /** Its database, through the driver alone, as another program uses it. */
  readonly database: Json;
}

export async function tenantOf(of: TestGateway, organisation?: Organisation): Promise<Tenant> {
  const own = organisation ?? (await makeOrganisation(of));
  const { key } = await makeKey(of, own);
  const database = of.databases.control.getClient().db(databaseName(own.id));
  return { gateway: of, organisation: own, caller: client(of, key), database };
}

/** The indexes of each collection that exists, by name. */
export async function filesOf({ database }: Tenant): Promise<Record<string, string[]>> {
  const collections: { name: string }[] = await database.listCollections().toArray();
  const found = await Promise.all(
    collections.map(async ({ name }) => {
      const indexes: { name: string }[] = await database.collection(name).listIndexes().toArray();
      return [name, indexes.map((index) => index.name).sort()] as const;
    }),
  );
  return Object.fromEntries(found.sort());
}

export const filesIn = (found: Record<string, string[]>): number =>
  Object.values(found).reduce((sum, indexes) => sum + 1 + indexes.length, 0);

/** All indexes of a collection, or those of a small one. */
export function indexesOf({ databases }: TestGateway, name: string, isSmall = false): string[] {
  const { collections } = databases.organisationData({ id: randomUUID() });
  const all = collections.find((collection) => collection.name === name)!.indexes;
  const indexes = all.filter(({ options: { unique, expireAfterSeconds } = {} }) => {
    return !isSmall || unique !== undefined || expireAfterSeconds !== undefined;
  });
  return ['_id_', ...indexes.map(({ on, options }) => options?.name ?? Object.entries(on).flat().join('_'))].sort();
}
