import { randomUUID } from 'node:crypto';
import { type ClientSession, trusted } from 'mongoose';
import { type Held, createLeases } from '../mongo/lease';
import { nativeCollection } from '../mongo/native';
import { DAY } from '../units';
import type { Actor } from './auditEvents';
import { JOB_KINDS, type JobRow } from './jobRows';
import type { RecordEvent } from './auditRecorder';
import type { ControlModels } from './models';
import { createLastKnown } from './lastKnown';

/* Work that takes longer than a request, and which gateway does it (docs/decisions/operator-api.md). */

export type JobRequest = Pick<JobRow, 'kind' | 'to'> & { readonly organisationId: string };

/** The state of the organisation does not allow a job. The message is for operators. */
export class JobRefused extends Error {
  override readonly name = 'JobRefused';
}

/**
 * How long a lease lasts, in milliseconds: longer than a process that is not seen keeps its move (LOST_AFTER in moving.ts), so that the next holder
 * of the job can take the move over.
 */
const LEASED_FOR = 20_000;
/** How often the holder renews its lease, in milliseconds. */
export const JOB_BEAT_EVERY = 3000;
/** How long a job is kept after its end, in milliseconds (contract, section 15). */
const KEPT_FOR = 30 * DAY;
const LONG_AGO = new Date(0);

export type HeldJob = Held<JobRow>;

interface JobsOptions {
  readonly now: () => number;
  /** Ends all access to an organisation, in a transaction (`beginIn` of erasing.ts, which imports this file). @throws JobRefused */
  readonly beginErasure: (actor: Actor, id: string, session: ClientSession, record: RecordEvent) => Promise<unknown>;
}

const NO_JOBS = { waiting: 0, running: 0, retrying: 0, failed: 0 };

export function createJobs(models: ControlModels, { now, beginErasure }: JobsOptions) {
  const rows = nativeCollection(models.jobs);
  const { organisations } = models;

  const leases = createLeases(rows, LEASED_FOR, now);

  /** Open jobs, and those that failed in the last day, oldest first. */
  const watched = (): Promise<JobRow[]> => {
    const failed = { ended_at: { $gte: new Date(now() - DAY) }, state: 'failed' as const };
    return rows.find({ $or: [{ ended_at: null }, failed] }, { sort: { created_at: 1 } }).toArray();
  };

  return {
    watched,
    /**
     * The watched jobs by state, as last counted. A job is `retrying` from its first failed attempt to its end, also while another attempt runs:
     * otherwise the alert on a job that has been retrying for a quarter of an hour would start over with each attempt.
     */
    counts: createLastKnown(NO_JOBS, async () => {
      const counts = { ...NO_JOBS };
      for (const { state, ended_at, error } of await watched()) {
        const shown = ended_at === null && error !== null ? 'retrying' : state;
        if (shown !== 'done') counts[shown] += 1;
      }
      return counts;
    }),
    /** The open job that does this. */
    findOpen: ({ kind, to, organisationId }: JobRequest): Promise<JobRow | null> =>
      rows.findOne({ organisation_id: organisationId, ended_at: null, kind, to }),
    /**
     * Finds the open job that does this, or creates one; a new erasure ends all access at once. Undefined if there is neither
     * such an organisation nor a job that erased it. @throws JobRefused
     */
    findOrCreate({ kind, to, organisationId }: JobRequest, actor: Actor): Promise<JobRow | undefined> {
      const job: JobRow = {
        _id: randomUUID(),
        kind,
        organisation_id: organisationId,
        to,
        actor,
        state: 'waiting',
        step: null,
        error: null,
        created_at: new Date(now()),
        ended_at: null,
        holder: null,
        until: LONG_AGO,
      };
      return models.change(async (session, record) => {
        // concurrent calls conflict on this row: one succeeds, and the others then find its job
        const row = await organisations
          .findOneAndUpdate({ _id: organisationId }, { $inc: { holds: 1 } }, { session })
          .lean();
        const ofOrganisation = { organisation_id: organisationId };
        const filter = { ...ofOrganisation, ...(row ? { ended_at: null } : { kind: 'erasure' as const }) };
        const storedJob = await rows.findOne(filter, { session, sort: { created_at: -1 } });
        if (storedJob?.kind === kind && storedJob.to === to) return storedJob;
        if (!row) return undefined;
        if (storedJob) {
          const other = storedJob.kind === 'move' ? `being moved to shard ${String(storedJob.to)}` : 'being erased';
          throw new JobRefused(`organisation ${organisationId} is ${other} (job ${storedJob._id})`);
        }
        const { state, move } = row;
        if (state === 'erasing' && kind === 'move')
          throw new JobRefused(`organisation ${organisationId} is being erased`);
        if (move && (kind === 'erasure' || move.to !== to))
          throw new JobRefused(`organisation ${organisationId} is being moved to shard ${move.to}`);
        await rows.insertOne(job, { session });
        await record(actor, 'job.created', organisationId, { job: job._id, kind, ...(to !== null && { to }) });
        if (kind === 'erasure') await beginErasure(actor, organisationId, session, record);
        return job;
      });
    },
    find: async (id: string): Promise<JobRow | undefined> => (await rows.findOne({ _id: id })) ?? undefined,
    /** Leases the oldest free job, of a kind that this version can do: a later one may have others. */
    take: (): Promise<HeldJob | undefined> =>
      leases.take(
        { ended_at: null, kind: { $in: JOB_KINDS } },
        { $set: { state: 'running' } },
        { sort: { created_at: 1 } },
      ),
    /** Renews a lease and stores the step. False if the lease was lost. */
    keep: async ({ _id, holder }: HeldJob, progress: Pick<JobRow, 'step'>): Promise<boolean> =>
      (await leases.renew({ _id, holder }, { $set: progress })) !== undefined,
    /** Gives a lease back; the job can be taken again after `after` milliseconds. False if the lease was lost, and then nothing is stored. */
    release: ({ _id, holder }: HeldJob, error: string | null, after: number): Promise<boolean> =>
      leases.release({ _id, holder }, { $set: { state: 'waiting', error } }, { until: new Date(now() + after) }),
    /** Ends a job, as failed if there is an error. False if the lease was lost, and then nothing is stored. */
    end({ _id, holder, kind, actor, organisation_id }: HeldJob, error: string | null): Promise<boolean> {
      const at = now();
      const state = error === null ? 'done' : 'failed';
      const ended = { state, error, ended_at: new Date(at), ends_at: new Date(at + KEPT_FOR) } as const;
      return models.change(async (session, record) => {
        const isReleased = await leases.release({ _id, holder }, { $set: ended }, { session });
        // a job that succeeded has already recorded what it did, and an erased organisation must have no further event
        if (!isReleased || error === null) return isReleased;
        // an erasure that ends meanwhile conflicts with this write
        const present = { _id: organisation_id, state: trusted({ $ne: 'erasing' as const }) };
        const { matchedCount } = await organisations.updateOne(present, { $inc: { holds: 1 } }, { session });
        if (matchedCount > 0 || kind === 'erasure')
          await record(actor, 'job.failed', organisation_id, { job: _id, kind, error });
        return isReleased;
      });
    },
  };
}
