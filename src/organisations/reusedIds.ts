import { EVENTS_KEPT_FOR, MINUTE, SECOND } from '../units';
import type { ControlModels } from './models';
import { IdTakenError } from './organisationErrors';
import type { OrganisationDocument } from './organisationRows';

/* Organisations that are created with a given id: that of one that was erased, or of another installation (docs/decisions/exports.md). */

/** How long after an erasure gateways may still write something of the organisation, in milliseconds: requests take up to 50 s, usage waits for a minute. */
export const SETTLED_AFTER = 2 * MINUTE;
/**
 * The first part of the positions of events under a reused id: higher than under an id's first use, so that they come after those events also if
 * another installation, whose clock was ahead, recorded them. Further uses have the same, and follow each other by cluster time.
 */
const EPOCH = 0x1000;

/** What the row of such an organisation has from the start: programs may hold cursors of its former feed, and times up to which they read changes. */
export const reusedMembers = (now: number): Pick<OrganisationDocument, 'feed' | 'followed_at'> => ({
  // all events that a cursor of the former feed can still ask for are lost
  feed: { epoch: EPOCH, owed: new Date(now - EVENTS_KEPT_FOR) },
  followed_at: new Date(now),
});

/**
 * Requires that an organisation can be created with an id. Resolves with whether one with this id was erased here.
 * @throws IdTakenError if there is one, or something of it may still be written
 */
export async function requireUnused(
  { organisations, jobs, auditEvents }: ControlModels,
  id: string,
  now: number,
): Promise<{ readonly wasErased: boolean }> {
  const [organisation, job, erased] = await Promise.all([
    organisations.findById(id, { state: 1 }).lean(),
    jobs.findOne({ organisation_id: id, ended_at: null }, { _id: 1 }).lean(),
    auditEvents.findOne({ organisation_id: id, action: 'organisation.erased' }, { at: 1 }).sort({ at: -1 }).lean(),
  ]);
  if (organisation)
    throw new IdTakenError(
      organisation.state === 'erasing'
        ? `organisation ${id} is being erased; to finish that, run scopegate org erase again`
        : `organisation ${id} exists already; see scopegate org show ${id}`,
    );
  if (job) throw new IdTakenError(`organisation ${id} is being erased (job ${job._id}); retry when that has ended`);
  const wait = erased ? erased.at.getTime() + SETTLED_AFTER - now : 0;
  if (wait > 0)
    throw new IdTakenError(
      `organisation ${id} was erased less than two minutes ago, and gateways may still write what they know of it; retry in ${String(Math.ceil(wait / SECOND))} s`,
    );
  return { wasErased: erased !== null };
}
