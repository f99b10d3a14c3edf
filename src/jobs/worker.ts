import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { keepLease } from '../mongo/lease';
import { createFailureLog, describeError } from '../log';
import { createLoop } from '../async/loop';
import type { Actor } from '../organisations/auditEvents';
import { JOB_BEAT_EVERY, type HeldJob, JobRefused } from '../organisations/jobs';
import { eraseOrganisation } from './eraseOrganisation';
import { moveOrganisation } from './moveOrganisation';
import type { Stores } from './stores';

/* Does jobs in a gateway (docs/decisions/operator-api.md). */

/** How often to look for a job, in milliseconds. */
const LOOK_EVERY = 2000;
/** How long to wait before another attempt at an unfinished job, in milliseconds: the database may be down, or another process at it. */
const AGAIN_AFTER = 5000;
/** The most jobs that a gateway does at once: each reads and writes as fast as it can. */
const MAX_AT_ONCE = 2;

/** The actor of moves that a gateway resumes on its own. */
const ITSELF: Actor = { who: 'system:moves', from: hostname() };

/** How an attempt ended; one that is unfinished is followed by another. */
type Outcome = { readonly state: 'done' } | { readonly state: 'failed' | 'unfinished'; readonly error: unknown };

/** How far a job has come. */
interface JobProgress {
  /** As the job shows it; null before the first. */
  step: string | null;
}

export interface WorkerOptions extends Stores {
  readonly logger: Logger;
}

export function createJobWorker({ logger, ...stores }: WorkerOptions) {
  const { jobs, moving, erasing } = stores.control;
  const running = new Set<Promise<void>>();
  const logFailure = createFailureLog(logger);

  /** Begins a job if there is one. Resolves with whether there may be another. */
  async function lookForJob(): Promise<boolean> {
    const job = running.size < MAX_AT_ONCE ? await takeNext() : undefined;
    if (!job) return false;
    const ended = work(job)
      .catch(logged('the end of a job could not be recorded; another gateway takes it over'))
      .finally(() => {
        running.delete(ended);
        loop.wake();
      });
    running.add(ended);
    return true;
  }

  const onError = logged('looking for jobs failed; will retry');
  const loop = createLoop({ round: lookForJob, every: LOOK_EVERY, onError });

  /** Takes a job, or a move that was begun on the command line and whose process has ended. */
  async function takeNext(): Promise<HeldJob | undefined> {
    const job = await jobs.take();
    if (job) return job;
    const abandonedMoves = await moving.abandoned();
    for (const { id: organisationId, to } of abandonedMoves)
      // refused while another job of the organisation is open, which then ends the move
      await jobs.findOrCreate({ kind: 'move', organisationId, to }, ITSELF).catch(ifRefused);
    return abandonedMoves.length > 0 ? jobs.take() : undefined;
  }

  /** For `catch`. */
  function logged(message: string) {
    return (error: unknown): undefined => {
      logFailure(message, error);
    };
  }

  /** Does a job, and stores how it ended. Rejects if that cannot be stored. */
  async function work(job: HeldJob): Promise<void> {
    const progress: JobProgress = { step: null };
    const lease = keepLease({ renew: () => jobs.keep(job, progress), every: JOB_BEAT_EVERY });
    const ids = { job: job._id, kind: job.kind, organisation_id: job.organisation_id };
    try {
      const outcome = await attempt(job, progress, AbortSignal.any([lease.lost, loop.ending]));
      if (outcome.state === 'done') {
        await jobs.end(job, null);
        logger.info(ids, 'job done');
      } else if (loop.isEnding()) {
        // this attempt has not failed; an earlier one may have
        await jobs.release(job, job.error, 0);
        logger.info(ids, 'job left to another gateway');
      } else {
        const { state, error } = outcome;
        logger.warn({ ...ids, error: describeError(error) }, 'job failed');
        const { message } = error as Error;
        if (state === 'failed') await jobs.end(job, message);
        else await jobs.release(job, message, AGAIN_AFTER);
      }
    } finally {
      await lease.stop();
    }
  }

  async function attempt(job: HeldJob, progress: JobProgress, signal: AbortSignal): Promise<Outcome> {
    try {
      await perform(job, progress, signal);
      return { state: 'done' };
    } catch (error) {
      const isRefused = error instanceof JobRefused;
      // the database may be away, and then nobody knows
      const state = isRefused ? await stateAfterRefusal(job).catch(() => 'unfinished' as const) : 'unfinished';
      return state === 'done' ? { state } : { state, error };
    }
  }

  /** A job whose attempt is refused may be done: by another process, or by a former holder that could not record it. */
  async function stateAfterRefusal({ kind, organisation_id: id, to }: HeldJob): Promise<Outcome['state']> {
    const { organisation, move } = (await moving.moveOf(id)) ?? {};
    if (kind === 'erasure') {
      const isBegun = organisation ? organisation.state === 'erasing' : (await erasing.erasedAt(id)) !== undefined;
      // it cannot be undone, so it is tried until it succeeds; an attempt after its end finds nothing left to do
      return isBegun ? 'unfinished' : 'failed';
    }
    if (move) return 'unfinished';
    const isThere = organisation && (await stores.databases.shardsOf([id])).get(id) === to;
    return isThere ? 'done' : 'failed';
  }

  async function perform(
    { kind, organisation_id: id, to, actor }: HeldJob,
    progress: JobProgress,
    signal: AbortSignal,
  ) {
    // what a job changes is recorded as done by whoever asked for it
    const as: Stores = { ...stores, control: { ...stores.control, ...stores.control.as(actor) } };
    if (kind === 'erasure') {
      progress.step = 'erasing';
      const mayDrop = signal.throwIfAborted.bind(signal);
      if (!(await eraseOrganisation(as, id, { mayDrop }))) throw new JobRefused(`there is no organisation ${id}`);
      return;
    }
    const { move } = (await moving.moveOf(id)) ?? {};
    // somebody else ended it
    if (!move && actor.who === ITSELF.who) throw new JobRefused('the move has ended');
    const onStep = (step: string) => (progress.step = step);
    // the organisation cannot be moved until a move elsewhere that was left by its process has ended
    if (move && move.to !== to) await moveOrganisation(as, { id, to: move.to, signal, onStep });
    // each move has a shard
    await moveOrganisation(as, { id, to: to ?? '', signal, onStep });
  }

  return {
    start: loop.start,
    /** Looks for a job now, because there is a new one. */
    wake: loop.wake,
    /** Resolves when work has stopped; another gateway takes over unfinished jobs. */
    async stop(): Promise<void> {
      await loop.stop();
      await Promise.all(running);
    },
  };
}

function ifRefused(error: unknown): undefined {
  if (!(error instanceof JobRefused)) throw error;
}
