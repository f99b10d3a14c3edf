import { createHash, randomUUID } from 'node:crypto';
import mongoose, { type mongo } from 'mongoose';
import type { Organisation } from '../../../src/auth/principal';
import { allScopes, type Scope } from '../../../src/auth/scopes';
import { events } from '../../../src/events/collection';
import { positionOf, timeDigits } from '../../../src/events/position';
import { openWrites } from '../../../src/tenant/slots';
import { published } from '../../../src/schema/model';
import { MINUTE } from '../../../src/units';
import { canaryRecords, secretsIn } from './canaries';
import { type Client, client, type Json } from '../client';
import { callerOf, makeKey, makeOrganisation, store } from '../factories';
import type { TestGateway } from '../gateway';
import type { Ids } from '../operations';
import { type ListName, names, type Records, RESOURCES } from '../resources';

/** The key of a request: its owner, or what is wrong with it. */
export const KEYS = [
  'own',
  'other organisation',
  'scope missing',
  'expired',
  'revoked',
  'plan off',
  'suspended',
] as const;
export type KeyKind = (typeof KEYS)[number];

/** Index of the customer and quote that rows of other organisations refer to. */
export const NAMED = 1;

/** An organisation of the scene with its data. */
export interface Holding {
  readonly organisation: Organisation;
  readonly records: Records;
  /** One row of each resource. */
  readonly ids: Ids;
  /** A caller with every scope. */
  readonly caller: Client;
  /** Texts that other organisations must not see. */
  readonly secrets: ReadonlySet<string>;
}

export interface Scene {
  readonly gateway: TestGateway;
  /** The caller's: the sandbox of the victim. */
  readonly own: Holding;
  readonly other: Holding;
  /** The organisation under attack; none of the keys above belongs to it. */
  readonly victim: Holding;
  /** Those of the keys 'plan off' and 'suspended'. */
  readonly closed: readonly Organisation[];
  /** A caller with this kind of key; 'scope missing' lacks `scope`. */
  callerWith(kind: KeyKind, scope: Scope | undefined): Client;
  homeOf(kind: KeyKind): Holding;
}

export async function makeScene(gateway: TestGateway): Promise<Scene> {
  const attacked = await makeOrganisation(gateway, { name: nameOf('victim') });
  // nothing is closer to an organisation than its sandbox
  const of = { of: attacked.id, name: nameOf('own'), willBeSeeded: false };
  const sandbox = await gateway.control.sandboxes.create(of, { who: 'cli:test', from: 'here' });
  const own = await makeHolding(gateway, 'own', { organisation: sandbox!.organisation });
  const other = await makeHolding(gateway, 'other');
  const victim = await makeHolding(gateway, 'victim', { organisation: attacked, customer: own.ids.customer });
  const spent = await makeHolding(gateway, 'spent');
  await gateway.control.organisations.setPlan(spent.organisation.id, 'starter');
  const suspended = await makeHolding(gateway, 'suspended');
  await gateway.control.organisations.suspend(suspended.organisation.id);
  const expired = await makeKey(gateway, own.organisation, { expiresAt: new Date(Date.now() - MINUTE) });
  const revoked = await makeKey(gateway, own.organisation);
  await gateway.control.apiKeys.revoke(revoked.id);
  const callers: Record<Exclude<KeyKind, 'scope missing'>, Client> = {
    own: own.caller,
    'other organisation': other.caller,
    expired: client(gateway, expired.key),
    revoked: client(gateway, revoked.key),
    'plan off': spent.caller,
    suspended: suspended.caller,
  };
  const withoutScope = new Map<Scope | undefined, Client>();
  for (const scope of [undefined, ...allScopes()]) {
    const scopes = scope === undefined ? [] : allScopes().filter((one) => one !== scope);
    withoutScope.set(scope, await callerOf(gateway, own.organisation, { scopes }));
  }
  return {
    gateway,
    own,
    other,
    victim,
    closed: [spent.organisation, suspended.organisation],
    callerWith: (kind, scope) => (kind === 'scope missing' ? withoutScope.get(scope)! : callers[kind]),
    homeOf: (kind) => (kind === 'other organisation' ? other : own),
  };
}

const nameOf = (holding: string): string => `zq${holding}0x`;

/** Fills an organisation, by default a new one, with canaries. A row of each kind refers to `customer`, of another organisation. */
async function makeHolding(
  gateway: TestGateway,
  name: string,
  { organisation: given, customer }: { readonly organisation?: Organisation; readonly customer?: string } = {},
): Promise<Holding> {
  const organisation = given ?? (await makeOrganisation(gateway, { name: nameOf(name) }));
  const records = canaryRecords(name);
  if (customer !== undefined) {
    for (const { list } of RESOURCES.filter(({ members }) => names(members).includes('customer_id'))) {
      records[list].push({ ...canaryRecords(`${name}more`)[list][0]!, customer_id: customer });
    }
  }
  await store(gateway, organisation, records);
  await recordEvents(gateway, organisation, records.products[0]!.id);
  const key = await makeKey(gateway, organisation, { name: `zq${name}9999x` });
  const { customers, quotes } = records;
  const caller = client(gateway, key.key);
  const attached = await attachFiles(caller, name, records);
  const secrets = secretsIn([records, attached, organisation.id, organisation.name, key.id, `zq${name}9999x`]);
  // keys and ids that attackers use themselves are not secret, but the objects behind them are
  const keys = published.upserts.flatMap(({ list, key }) =>
    records[list as ListName].slice(1).map((row) => (row as Json)[key] as unknown),
  );
  for (const used of [customer, customers[NAMED]!.id, quotes[NAMED]!.id, ...keys]) secrets.delete(String(used));
  return {
    organisation,
    records,
    ids: Object.fromEntries(RESOURCES.map(({ list, one }) => [one, records[list][0]!.id])) as unknown as Ids,
    caller,
    secrets,
  };
}

/** A file with each first object that can have one. */
async function attachFiles(caller: Client, name: string, records: ReturnType<typeof canaryRecords>): Promise<Json[]> {
  const attached: Json[] = [];
  for (const [at, { add, stored }] of published.attachables.entries()) {
    const canary = `zq${name}88${String(at)}x`;
    const path = add.rest.path.replace(':id', records[stored.collection as ListName][0]!.id);
    const headers = { 'content-type': 'text/plain', 'content-disposition': `attachment; filename="${canary}.txt"` };
    const { status, body } = await caller.send('POST', path, { body: canary, headers });
    if (status !== 201) throw new Error(JSON.stringify(body));
    attached.push({ id: body.id, file_name: body.file_name });
  }
  return attached;
}

/** Two events of a product, as the gateway that records them would store. */
async function recordEvents(gateway: TestGateway, organisation: Organisation, id: string): Promise<void> {
  const data = gateway.databases.organisationData(organisation);
  await data.prepare([events]);
  const rows = ['product.created', 'product.updated'].map((type, index) => ({
    _id: positionOf(0, timeDigits({ t: Math.floor(Date.now() / 1000), i: 1 }), index + 1),
    type,
    at: new Date(),
    object: { type: 'product', id },
    changes: [],
    status: null,
  }));
  await data.collection(events).insertMany(rows);
}

/** Every document of every collection of an organisation's database, as text, except the rows of writes in flight. */
export async function dumpOf(gateway: TestGateway, organisation: Organisation): Promise<string> {
  const { database } = gateway.databases.organisationData(organisation);
  return dumpDatabase(database);
}

/** The same of any database. */
export async function dumpDatabase(database: mongo.Db): Promise<string> {
  const collections = await database.collections();
  const parts: string[] = [];
  for (const collection of collections.sort((a, b) => (a.collectionName < b.collectionName ? -1 : 1))) {
    const rows = await collection.find().sort({ _id: 1 }).toArray();
    // ignore empty collections, and rows of writes in flight, which a failed write may have made too
    if (rows.length === 0 || collection.collectionName === openWrites.name) continue;
    parts.push(
      `${collection.collectionName}\n${rows.map((row) => mongoose.mongo.BSON.EJSON.stringify(row)).join('\n')}`,
    );
  }
  return parts.join('\n');
}

/** A hash of all data of an organisation's database. */
export async function hashOf(gateway: TestGateway, organisation: Organisation): Promise<string> {
  return createHash('sha256')
    .update(await dumpOf(gateway, organisation))
    .digest('hex');
}

/** Whose object a value refers to: the caller's organisation's, another's, none, or a malformed value. */
export const IDENTITIES = ['own', 'foreign', 'random', 'malformed'] as const;
export type Identity = (typeof IDENTITIES)[number];

/** Ids by identity, found by `find` in an organisation. */
export function idsOf({ own, victim }: Scene, find: (holding: Holding) => string): Record<Identity, string> {
  return { own: find(own), foreign: find(victim), random: randomUUID(), malformed: 'no-uuid' };
}
