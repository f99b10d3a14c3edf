import { databaseName } from '../../mongo/databaseNames';
import type { JobRow } from '../../organisations/jobRows';
import { isAbandoned } from '../../organisations/moving';
import type { Store } from '../store';
import { counted, listed } from '../terminal';
import { type Check, examine, Finding, type CheckResult, type DoctorContext } from './check';
import { isOnAtlas } from './connection';
import type { Counts } from './indexes';

/* Checks of what is stored: moves, jobs, databases without an organisation, and files. */

const LEFT_OVER =
  'check that CONTROL_DATABASE is the right one; unless they belong to another control database, they are left over: drop them with dropDatabase() in mongosh';

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
  yield await examine('databases', 'look at the control database', async () => {
    const existingIds = await control.organisations.existing([...present]);
    const orphans = [...present].filter((id) => !existingIds.has(id)).map(databaseName);
    if (orphans.length === 0) return 'every database belongs to an organisation';
    const noun = orphans.length === 1 ? 'database belongs' : 'databases belong';
    const detail = `${String(orphans.length)} ${noun} to no organisation of ${databases.control.name}: ${listed(orphans)}`;
    return { detail, fix: LEFT_OVER };
  });
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

/** The share of SHARD_FILES above which doctor warns. */
const WARN_ABOVE = 0.85;

/** How many files the organisations have on each shard, or on the replica set: each collection and each index is one. */
export function checkFiles({ config }: DoctorContext, counts: ReadonlyMap<string, Counts>): Check[] {
  const { SHARD_FILES } = config;
  const count = (value: number): string => value.toLocaleString('en');
  const byShard = counts.size > 0 ? [...counts] : [['', NONE] as const];
  return byShard.sort().map(([shard, { organisations, collections, indexes }]) => {
    const files = collections + indexes;
    const detail = `${count(files)} of ${count(SHARD_FILES)} files (SHARD_FILES), for ${count(collections)} collections and ${count(indexes)} indexes of ${counted(organisations, 'organisation')}`;
    const name = shard === '' ? 'files' : `files on ${shard}`;
    const fix = isOnAtlas(config) ? MAKE_ROOM.atlas : MAKE_ROOM.own;
    return { name, ok: files <= SHARD_FILES, detail, ...(files > WARN_ABOVE * SHARD_FILES && { fix }) };
  });
}

const NONE: Counts = { organisations: 0, collections: 0, indexes: 0 };

/** What to do about a full database. */
const MAKE_ROOM = {
  own: 'raise SHARD_FILES and the LimitNOFILE of the servers, or add a shard and move the largest organisations to it (docs/guides/sharding.md)',
  atlas: 'choose a larger tier, or add a shard and move the largest organisations to it (docs/guides/sharding.md)',
} as const;
