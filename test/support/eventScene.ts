import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import type { Organisation } from '../../src/auth/principal';
import type { Scope } from '../../src/auth/scopes';
import { databaseName } from '../../src/database/organisationData';
import { type EventRow, events } from '../../src/events/collection';
import { positionOf, timeDigits } from '../../src/events/position';
import { client, type Client } from './client';
import { makeKey, makeOrganisation } from './factories';
import type { TestGateway } from './gateway';

/* An organisation whose events the test writes, as another gateway's tail would. */

export interface EventScene {
  readonly organisation: Organisation;
  readonly key: string;
  readonly keyId: string;
  readonly caller: Client;
  readonly rows: mongo.Collection<EventRow>;
}

export async function eventScene(
  gateway: TestGateway,
  bare: mongo.MongoClient,
  scopes?: readonly Scope[],
): Promise<EventScene> {
  const organisation = await makeOrganisation(gateway);
  const { key, id: keyId } = await makeKey(gateway, organisation, scopes ? { scopes } : {});
  await gateway.databases.organisationData(organisation).prepare([events]);
  const rows = bare.db(databaseName(organisation.id)).collection<EventRow>(events.name);
  return { organisation, key, keyId, caller: client(gateway, key), rows };
}

export const SECOND = Math.floor(Date.now() / 1000) - 10_000;

/** The nth event, a second after the one before. */
export function eventRow(n: number, type = 'product.updated', id = randomUUID() as string): EventRow {
  const time = timeDigits({ t: SECOND + n, i: 1 });
  const object = { type: type.split('.')[0]!, id };
  const at = new Date((SECOND + n) * 1000);
  return { _id: positionOf(0, time, 1), type, at, object, changes: ['name'], status: null };
}
