import type { mongo } from 'mongoose';
import { DATABASE_NAME } from '../mongo/databaseNames';
import type { Databases } from '../tenant/databases';

/*
 * Other control databases on the same servers. A mistyped CONTROL_DATABASE is an empty control database, in which every key is unknown and
 * every organisation's data seems to belong to nobody; the one that was meant is beside it.
 */

/** How many databases are looked into, those with the most similar names; chosen, as doctor asks all at once. */
const MOST_DATABASES = 20;
/** How long a read of each may take, in milliseconds; chosen, as only warnings need it. */
const LOOK_TIMEOUT = 2000;

type Located = Pick<Databases, 'control'>;

/** Names of other control databases that have organisations, the most similar first. @throws the driver's error, also if this user may not list databases */
export async function otherControls({ control }: Located): Promise<string[]> {
  const client = control.getClient();
  // without those of organisations, of which there may be thousands
  const filter = { name: { $not: { $regex: DATABASE_NAME.source } } };
  const { databases } = await client.db('admin').command({ listDatabases: 1, nameOnly: true, filter });
  const names = (databases as { readonly name: string }[])
    .map(({ name }) => name)
    // again, as not every server applies that filter
    .filter((name) => !DATABASE_NAME.test(name) && ![...SYSTEM, control.name].includes(name))
    .sort((left, right) => likeness(right, control.name) - likeness(left, control.name))
    .slice(0, MOST_DATABASES);
  const controls = await Promise.all(names.map(async (name) => ((await isControl(client.db(name))) ? [name] : [])));
  return controls.flat();
}

const SYSTEM = ['admin', 'config', 'local'];

/** How many characters two names have in common at their beginnings and ends. */
function likeness(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let head = 0;
  let tail = 0;
  while (head < most && one[head] === other[head]) head += 1;
  while (tail < most - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  return head + tail;
}

/** Whether a database is a control database with organisations: it has the row of its schema (controlSchema.ts). */
async function isControl(database: mongo.Db): Promise<boolean> {
  const options = { projection: { _id: 1 }, maxTimeMS: LOOK_TIMEOUT } as const;
  const first = (name: string, filter: mongo.Filter<{ _id: string }>) =>
    database.collection<{ _id: string }>(name).findOne(filter, options);
  return (await first('deployment', { _id: 'schema' })) !== null && (await first('organisations', {})) !== null;
}

/**
 * Other control databases that have organisations, if this one has none: it may not be the one that was meant. Never rejects, since it is for
 * warnings, which a user without the privilege to list databases does not get.
 */
export async function controlsMeant({ control }: Located): Promise<string[]> {
  const own = control.getClient().db(control.name).collection('organisations');
  try {
    const first = await own.findOne({}, { projection: { _id: 1 }, maxTimeMS: LOOK_TIMEOUT });
    return first === null ? await otherControls({ control }) : [];
  } catch {
    return [];
  }
}

/** Which of these organisations another control database has. */
export async function knownTo({ control }: Located, name: string, ids: readonly string[]): Promise<Set<string>> {
  const rows = control.getClient().db(name).collection<{ _id: string }>('organisations');
  const known = await rows.find({ _id: { $in: ids } }, { projection: { _id: 1 }, maxTimeMS: LOOK_TIMEOUT }).toArray();
  return new Set(known.map(({ _id }) => _id));
}
