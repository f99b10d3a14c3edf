import { randomUUID } from 'node:crypto';
import type { ClientSession } from 'mongoose';
import { nativeCollection } from '../database/native';
import { isDuplicateKey } from '../database/faults';
import { DAY } from '../units';
import type { Actor } from './auditEvents';
import type { JobRow } from './jobRows';
import type { ControlModels } from './models';

/* Work that takes longer than a request, and which gateway does it (docs/decisions/operator-api.md). */

export type Asked = Pick<JobRow, 'kind' | 'to'> & { readonly organisationId: string };

/** This cannot be done to the organisation, now or ever. */
export class JobRefused extends Error {
  override readonly name = 'JobRefused';
}

/** How long a lease lasts, in milliseconds: longer than a mover is waited for (moving.ts). */
const LEASED_FOR = 20_000;
/** How often its holder renews it, in milliseconds. */
export const BEAT_EVERY = 3000;
const KEPT_FOR = 30 * DAY;
const LONG_AGO = new Date(0);

/** A job as its holder took it. */
export type HeldJob = JobRow & { readonly holder: string };

export function jobs(models: ControlModels, now: () => number) {
  const rows = nativeCollection(models.jobs);

  async function open({ kind, to, organisationId }: Asked): Promise<JobRow | undefined> {
    const found = await rows.findOne({ open_of: organisationId }, { readPreference: 'primary' });
    if (!found || (found.kind === kind && found.to === to)) return found ?? undefined;
    const other = found.kind === 'move' ? `being moved to cluster ${String(found.to)}` : 'being erased';
    throw new JobRefused(`organisation ${organisationId} is ${other} (job ${found._id})`);
  }

  const own = async ({ _id, holder }: HeldJob, change: object, session?: ClientSession): Promise<boolean> =>
    (await rows.updateOne({ _id, holder }, change, session && { session })).matchedCount === 1;

  return {
    /** Finds the job that already does this, or creates one. Undefined if there is no such organisation. @throws JobRefused */
    async ask(asked: Asked, actor: Actor): Promise<JobRow | undefined> {
      const { kind, to, organisationId } = asked;
      const found = await open(asked);
      if (found) return found;
      const job: JobRow = {
        ...{ _id: randomUUID(), kind, organisation_id: organisationId, to, actor, state: 'waiting', step: null },
        ...{ progress: 0, error: null, created_at: new Date(now()), ended_at: null, open_of: organisationId },
        ...{ holder: null, until: LONG_AGO },
      };
      try {
        return await models.change(async (session, record) => {
          const organisation = await models.organisations.findById(organisationId, null, { session }).lean();
          if (!organisation) return undefined;
          const { state, move } = organisation;
          if (state === 'erasing' && kind === 'move')
            throw new JobRefused(`organisation ${organisationId} is being erased`);
          if (move && (kind === 'erasure' || move.to !== to))
            throw new JobRefused(`organisation ${organisationId} is being moved to cluster ${move.to}`);
          await rows.insertOne(job, { session });
          await record(actor, 'job.created', organisationId, { job: job._id, kind, ...(to !== null && { to }) });
          return job;
        });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // another call made it meanwhile
        return open(asked);
      }
    },
    find: async (id: string): Promise<JobRow | undefined> =>
      (await rows.findOne({ _id: id }, { readPreference: 'primary' })) ?? undefined,
    /** Takes the oldest job that nobody works on, of those that need no cluster but these. */
    async take(clusters: readonly string[]): Promise<HeldJob | undefined> {
      const free = { open_of: { $exists: true }, until: { $lte: new Date(now()) }, to: { $in: [null, ...clusters] } };
      const taken = { holder: randomUUID(), until: new Date(now() + LEASED_FOR), state: 'running' as const };
      const how = { sort: { created_at: 1 }, returnDocument: 'after' } as const;
      return ((await rows.findOneAndUpdate(free, { $set: taken }, how)) as HeldJob | null) ?? undefined;
    },
    /** Renews a lease, and stores the progress. False if it was lost. */
    keep: (job: HeldJob, at: Pick<JobRow, 'step' | 'progress'>): Promise<boolean> =>
      own(job, { $set: { ...at, until: new Date(now() + LEASED_FOR) } }),
    /** Gives a lease back: the job is due again after some milliseconds. */
    release: (job: HeldJob, error: string | null, after: number): Promise<boolean> =>
      own(job, { $set: { state: 'waiting', holder: null, error, until: new Date(now() + after) } }),
    /** Ends a job; with an error it has failed. */
    end(job: HeldJob, error: string | null): Promise<boolean> {
      const at = now();
      const ended = { state: error === null ? 'done' : 'failed', error, holder: null, ended_at: new Date(at) } as const;
      const change = { $set: { ...ended, ends_at: new Date(at + KEPT_FOR) }, $unset: { open_of: '' } };
      return models.change(async (session, record) => {
        const isOurs = await own(job, change, session);
        // what it did if it is done is in the log already; of what is erased nothing else may be
        if (isOurs && error !== null) {
          const { _id, kind, actor, organisation_id } = job;
          await record(actor, 'job.failed', organisation_id, { job: _id, kind, error });
        }
        return isOurs;
      });
    },
  };
}
