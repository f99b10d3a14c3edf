import { nonEmptyVariables } from '../../config';
import { databaseName } from '../../mongo/databaseNames';
import type { JobRow } from '../../organisations/jobRows';
import { isAbandoned } from '../../organisations/moving';
import { knownTo, otherControls } from '../../organisations/otherControls';
import type { Store } from '../store';
import { counted, listed } from '../terminal';
import { type Check, examine, Finding, type CheckResult, type DoctorContext } from './check';
import { isOnAtlas } from '../connection';
import type { Counts } from './indexes';

/* Checks of what is stored: moves, jobs, databases without an organisation, and files. */

/** What to do about databases that belong to no organisation. */
const KEEP =
  'keep them: they may be all that is left of organisations whose control database was lost or restored. Those that scopegate audit --action organisation.erased lists were erased, and another program wrote to them since';

/** How many databases without an organisation are looked up in other control databases. */
const MOST_LOOKED_UP = 1000;

/**
 * Reports moves whose process has ended, since requests are refused until a gateway ends the move; failing jobs; and databases that belong to
 * no organisation. Such a database is not a failure, since it may belong to another control database. `present` has the ids of the
 * organisations that have a database.
 */
export async function* checkStored({ store }: DoctorContext, present: ReadonlySet<string>): AsyncGenerator<Check> {
  const { control, databases } = store;
  yield await examine('moves', 'look at the control database', async () => {
    const moves: Moved[] = [];
    for await (const move of control.moving.each()) moves.push(move);
    return stateOfMoves(moves, databases.now());
  });
  yield await examine('jobs', 'look at the control database', async () => stateOfJobs(await control.jobs.watched()));
  yield await examine('databases', 'look at the control database', () => stateOfDatabases(store, present));
}

/** A warning about databases of organisations that no control database knows, as far as they were looked into: for {@link MOST_LOOKED_UP} ids. */
async function stateOfDatabases(
  { control, databases }: Store,
  present: ReadonlySet<string>,
): Promise<string | CheckResult> {
  const existingIds = await control.organisations.existing([...present]);
  const unknown = new Set([...present].filter((id) => !existingIds.has(id)));
  if (unknown.size === 0) return 'every database belongs to an organisation';
  const sought = [...unknown].slice(0, MOST_LOOKED_UP);
  const owners: string[] = [];
  for (const name of await otherControls(databases)) {
    const known = await knownTo(databases, name, sought);
    if (known.size > 0) owners.push(name);
    for (const id of known) unknown.delete(id);
  }
  const elsewhere = owners.length === 0 ? '' : `; others belong to organisations of ${listed(owners)}`;
  if (unknown.size === 0) return `every database belongs to an organisation${elsewhere.replace('others', 'some')}`;
  const noun = unknown.size === 1 ? 'database belongs' : 'databases belong';
  const names = listed([...unknown].map(databaseName));
  const detail = `${String(unknown.size)} ${noun} to no organisation of ${databases.control.name}: ${names}${elsewhere}`;
  return { detail, fix: KEEP };
}

/** An organisation that is being moved to another shard, and its move. */
type Moved = ReturnType<Store['control']['moving']['each']> extends AsyncGenerator<infer Each> ? Each : never;

/** Moves under way. @throws Finding that names a move whose process has ended */
function stateOfMoves(moves: readonly Moved[], now: number): string {
  const abandoned = moves.filter(({ move }) => isAbandoned(move, now));
  const [stuck] = abandoned;
  if (stuck) {
    const { organisation, move } = stuck;
    const others = abandoned.length > 1 ? `, and ${String(abandoned.length - 1)} more` : '';
    throw new Finding(
      `the process that moved ${organisation.name} (${organisation.id}) to shard ${move.to} has ended, last seen ${move.seen_at.toISOString()}; until the move ends the organisation's requests are refused${others}`,
      `start a gateway, which ends it, or run scopegate org move ${organisation.id} --to ${move.to}`,
    );
  }
  return moves.length > 0 ? `${String(moves.length)} under way` : 'none under way';
}

/** A warning about jobs of the operator API whose last attempt failed. */
function stateOfJobs(jobs: readonly JobRow[]): string | CheckResult {
  const failing = jobs.filter(({ error }) => error !== null);
  if (failing.length === 0) return jobs.length === 0 ? 'none open' : `${String(jobs.length)} open, and none has failed`;
  const said = failing.map(
    ({ kind, organisation_id: id, ended_at, error }) =>
      `the ${kind} of organisation ${id} ${ended_at === null ? 'will be retried' : 'has failed'}: ${String(error)}`,
  );
  const fix =
    'fix the cause; a gateway retries an erasure by itself, but a move that has failed must be requested again';
  return { detail: listed(said), fix };
}

const count = (value: number): string => value.toLocaleString('en');

/** The share of SHARD_FILES above which doctor warns. */
export const WARN_ABOVE = 0.85;
/** The most collections and indexes that MongoDB recommends for a tier of Atlas; a tier that is not here has the number of the one before. */
export const ATLAS_FILES = { M10: 5000, M20: 10_000, M40: 100_000 } as const;

/** How many files the organisations have on each shard, or on the replica set: each collection and each index is one. */
export function checkFiles({ config }: DoctorContext, counts: ReadonlyMap<string, Counts>): Check[] {
  const { SHARD_FILES } = config;
  // the default is for servers of one's own
  const isUnset = isOnAtlas(config) && nonEmptyVariables().SHARD_FILES === undefined;
  const byShard = counts.size > 0 ? [...counts] : [['', NONE] as const];
  return byShard.sort().map(([shard, { organisations, collections, indexes }]) => {
    const files = collections + indexes;
    const detail = `${count(files)} of ${count(SHARD_FILES)} files (SHARD_FILES), for ${count(collections)} collections and ${count(indexes)} indexes of ${counted(organisations, 'organisation')}`;
    const name = shard === '' ? 'files' : `files on ${shard}`;
    const room = isOnAtlas(config) ? MAKE_ROOM.atlas : MAKE_ROOM.own;
    const fix = isUnset ? SET_FILES : files > WARN_ABOVE * SHARD_FILES ? room : undefined;
    return { name, ok: files <= SHARD_FILES, detail, ...(fix !== undefined && { fix }) };
  });
}

const NONE: Counts = { organisations: 0, collections: 0, indexes: 0 };

/** What to do if SHARD_FILES is not set on Atlas. */
const SET_FILES = `set SHARD_FILES to what MongoDB recommends at most for the tier: ${count(ATLAS_FILES.M10)} for M10, ${count(ATLAS_FILES.M20)} for M20 and M30, ${count(ATLAS_FILES.M40)} from M40 on; its default is for servers of your own`;

/** What to do about a full database. */
const MAKE_ROOM = {
  own: 'raise SHARD_FILES and the LimitNOFILE of the servers, or add a shard and move the largest organisations to it (docs/guides/sharding.md)',
  atlas:
    'choose a larger tier and its SHARD_FILES, or add a shard and move the largest organisations to it (docs/guides/sharding.md)',
} as const;
