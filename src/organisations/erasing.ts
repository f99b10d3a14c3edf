import { type ClientSession, trusted } from 'mongoose';
import type { Organisation } from '../auth/principal';
import { atMost } from '../mongo/native';
import type { Actor } from './auditEvents';
import type { RecordEvent } from './auditRecorder';
import { perhapsActive } from './endedKeys';
import type { ControlModels } from './models';
import { JobRefused } from './jobs';
import { organisationUsageId } from './usageUnits';
import { toOrganisation } from './organisationRows';
import { ownersOf } from './webhookRows';

export interface Erasure {
  readonly organisation: Organisation;
  /** Whether its data has been exported or need not be. */
  readonly exported: boolean;
}

const ERASED = 'organisation.erased';
/** Keys deleted by one command, once their usage is. */
const KEYS_AT_ONCE = 1000;

/** The organisation is being moved, and until that ends only the process that moves it may change it. */
export class MovingError extends JobRefused {
  constructor(id: string, to: string) {
    super(`organisation ${id} is being moved to shard ${to}; let that finish`);
  }
}

/**
 * Erases an organisation's control data, in the steps of jobs/eraseOrganisation.ts: `begin`, `noteExported`, and `finish` once its database is
 * dropped. Each can be repeated, so that a killed command can be run again (docs/decisions/organisation-life.md). `now` is the database's time.
 */
export function createErasures(models: ControlModels, actor: Actor, now: () => number) {
  const { organisations, apiKeys, usage, auditEvents, requests, members } = models;
  // what gives access to an organisation, or would name what is gone
  const { sessions, links, webhookEndpoints, creations } = models;
  // one type stands for all, as each row has `organisation_id`
  const rowsThatEnd = [sessions, links, webhookEndpoints, creations] as unknown as readonly (typeof links)[];

  /** Revokes all keys, and deletes sessions, links, webhook endpoints and creations. */
  async function endAccess(id: string, session: ClientSession, record: RecordEvent): Promise<void> {
    const active = { 'organisation.id': id, ...perhapsActive(now()) };
    const revoked = { $set: { revoked_at: new Date(now()), 'organisation.state': 'erasing' } };
    const { modifiedCount: keys } = await apiKeys.updateMany(active, revoked, { session });
    for (const rows of rowsThatEnd) await rows.deleteMany({ organisation_id: trusted(ownersOf([id])) }, { session });
    await record(actor, 'organisation.erasing', id, { keys_revoked: keys });
  }

  /** Undefined if there is no such organisation. @throws MovingError while it or its sandbox is being moved */
  async function begin(id: string, session: ClientSession, record: RecordEvent): Promise<Erasure | undefined> {
    const begun = { $set: { state: 'erasing' } };
    const options = { session, returnDocument: 'before' } as const;
    const organisation = await organisations.findOneAndUpdate({ _id: id, 'move.to': null }, begun, options).lean();
    if (!organisation) {
      const moved = await organisations.findById(id, { move: 1 }, { session }).lean();
      if (moved?.move) throw new MovingError(id, moved.move.to);
      return undefined;
    }
    // its sandbox as well; none can be created from here on, as that needs the organisation's row in another state
    const sandbox = await organisations.findOneAndUpdate({ sandbox_of: id }, begun, options).lean();
    if (sandbox?.move) throw new MovingError(sandbox._id, sandbox.move.to);
    if (sandbox && sandbox.state !== 'erasing') await endAccess(sandbox._id, session, record);
    if (organisation.state !== 'erasing') await endAccess(id, session, record);
    return {
      organisation: toOrganisation({ ...organisation, state: 'erasing' }),
      exported: organisation.exported === true,
    };
  }

  return {
    /**
     * Ends all access to an organisation and its sandbox: once this resolves, keys get 401, and no session or key can be created. May be
     * repeated. Undefined if there is no such organisation. @throws MovingError while it or its sandbox is being moved
     */
    begin: (id: string): Promise<Erasure | undefined> => models.change(begin.bind(undefined, id)),
    /** The same within a transaction of the caller, that of the job that erases the organisation. */
    beginIn: begin,
    /** Notes that the export is complete or not wanted, so that the database may be dropped. */
    async noteExported(id: string): Promise<void> {
      await organisations.updateOne({ _id: id, state: 'erasing' }, { $set: { exported: true } });
    },
    /** Whether that is noted, or the organisation is gone. */
    async isExported(id: string): Promise<boolean> {
      return (await organisations.findOne({ _id: id, state: 'erasing', exported: null }, { _id: 1 }).lean()) === null;
    },
    /**
     * Deletes what the control database has of an organisation whose access has ended. What stays is one audit event, the row of the job, if one
     * erases it, and that of the Idempotency-Key that created it, which has its id until it expires. The organisation's row is deleted after the
     * others, so that until then another attempt finds it.
     */
    async finish({ id, sandbox_of }: Organisation): Promise<void> {
      for (;;) {
        const keys = await apiKeys.find({ 'organisation.id': id }, { _id: 1 }).setOptions(atMost(KEYS_AT_ONCE)).lean();
        if (keys.length === 0) break;
        const ids = trusted({ $in: keys.map(({ _id }) => _id) });
        await usage.deleteMany({ key_id: ids });
        await apiKeys.deleteMany({ _id: ids });
      }
      await usage.deleteMany({ key_id: organisationUsageId(id) });
      await requests.deleteMany({ organisation_id: id });
      await members.deleteMany({ organisation_id: id });
      // that event stays: another process may just have ended this erasure
      await auditEvents.deleteMany({ organisation_id: id, action: trusted({ $ne: ERASED }) });
      await models.change(async (session, record) => {
        const { deletedCount } = await organisations.deleteOne({ _id: id, state: 'erasing' }, { session });
        if (deletedCount === 0) return;
        // of an earlier organisation with this id
        await auditEvents.deleteMany({ organisation_id: id, action: ERASED }, { session });
        await record(actor, ERASED, id, { ...(sandbox_of !== undefined && { sandbox_of }) });
      });
      // rows stored meanwhile by a gateway that died, or by one of an earlier version
      await requests.deleteMany({ organisation_id: id });
      await usage.deleteMany({ key_id: organisationUsageId(id) });
    },
    /** When an organisation with this id was erased here; undefined if none was. */
    async erasedAt(id: string): Promise<Date | undefined> {
      return (await auditEvents.findOne({ organisation_id: id, action: ERASED }, { at: 1 }).lean())?.at;
    },
  };
}
