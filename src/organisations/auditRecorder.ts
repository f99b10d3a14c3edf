import { hash, randomUUID } from 'node:crypto';
import { type ClientSession, type Model, trusted } from 'mongoose';
import { AppError } from '../errors';
import { DAY, HOUR, MINUTE, SECOND } from '../units';
import type { Actor, AuditAction } from './auditEvents';
import type { AuditEvent } from './auditRows';

/*
 * Stores audit events, and bounds what an organisation's people can make the control database store in a day, since each change of
 * theirs is an event (docs/decisions/bounded-control-data.md).
 */

/** Stores an audit event, in the transaction of the change that it describes. `keyId` is that of the API key that it is about, if any. */
export type RecordEvent = (
  actor: Actor,
  action: AuditAction,
  organisationId: string,
  details: Record<string, unknown>,
  keyId?: string,
) => Promise<void>;

interface Budget {
  /** Events in 24 hours. */
  readonly most: number;
  /** What it counts, in the plural. */
  readonly what: string;
  /** Whether each user has it, instead of the organisation. */
  readonly isOfUser?: true;
}

/** For what makes or changes something. What ends access, such as a revocation, has none: it must always be possible, and ends only what was made within a budget. */
const BUDGETS = {
  'key.created': { most: 1000, what: 'new API keys' },
  'key.rotated': { most: 1000, what: 'rotations of API keys' },
  'key.updated': { most: 1000, what: 'changes of API keys' },
  'webhook.created': { most: 1000, what: 'new webhook endpoints' },
  'webhook.updated': { most: 1000, what: 'changes of webhook endpoints' },
  'webhook.rotated': { most: 1000, what: 'rotations of webhook secrets' },
  'webhook.enabled': { most: 1000, what: 'webhook endpoints enabled' },
  'organisation.renamed': { most: 1000, what: 'changes of its name' },
  'sandbox.created': { most: 100, what: 'new sandboxes' },
  'link.created': { most: 10_000, what: 'sign-in links' },
  'invitation.created': { most: 1000, what: 'invitations' },
  'user.signed_in': { most: 200, what: 'sign-ins of one user', isOfUser: true },
} satisfies Partial<Record<AuditAction, Budget>>;

/** The actions without a budget, which can be recorded after a change that cannot be undone. */
export type UnbudgetedAction = Exclude<AuditAction, keyof typeof BUDGETS>;

/** The events of all others, such as the command line's, are neither counted nor bounded, and have no `times`. */
const isRemote = ({ who }: Actor): boolean => who.startsWith('user:') || who.startsWith('operator:');

/** What stores events, by `now`, the database's time. A user's or operator's event that repeats another of the same clock hour is counted in that one. */
export function createAuditRecorder(rows: Model<AuditEvent>, now: () => number) {
  const rowOf = (...[actor, action, organisation_id, details, keyId]: Parameters<RecordEvent>): AuditEvent => ({
    _id: randomUUID(),
    at: new Date(now()),
    actor,
    action,
    organisation_id,
    key_id: keyId ?? null,
    details,
  });

  /** @throws AppError rate_limited if an event that has just been stored exceeds the budget of its action */
  async function requireBudget({ action, actor, at, organisation_id }: AuditEvent, session: ClientSession) {
    const budget = (BUDGETS as Partial<Record<AuditAction, Budget>>)[action];
    if (!budget) return;
    const { most, what, isOfUser } = budget;
    const since = trusted({ $gt: new Date(at.getTime() - DAY) });
    const sameEvents = { organisation_id, action, at: since, ...(isOfUser && { 'actor.who': actor.who }) };
    // the event with which there are more than `most`. This one is counted: of two at once, each sees at least its own
    const last = { session, sort: { at: -1, _id: -1 }, skip: most } as const;
    // an index answers this without the rows but for a budget of each user; otherwise they are read only if the command line's events may be what exceeds the budget
    if (!(await rows.findOne(sameEvents, { at: 1 }, last).lean())) return;
    const remoteEvents = { ...sameEvents, times: trusted({ $gt: 0 }) };
    const oldestWithinBudget = await rows.findOne(remoteEvents, { at: 1 }, last).lean();
    if (!oldestWithinBudget) return;
    const retryAfter = Math.max(1, Math.ceil((oldestWithinBudget.at.getTime() + DAY - at.getTime()) / SECOND));
    const detail = `The organisation has had ${most.toLocaleString('en')} ${what} in 24 hours, the most it may; nothing was stored. Retry in ${waitText(retryAfter)}, or ask the operator, whose command line has no such limit.`;
    throw new AppError('rate_limited', detail, { retryAfter });
  }

  /** Stores an event; with `session` in that transaction. Resolves with whether it counts towards a budget: it is remote and no repetition. */
  async function storeEvent(event: AuditEvent, session?: ClientSession): Promise<boolean> {
    const { _id: _random, at, ...members } = event;
    const { actor, action, organisation_id, key_id, details } = members;
    const options = session ? { session } : {};
    if (!isRemote(actor)) {
      await rows.create([event], options);
      return false;
    }
    const same = [Math.floor(at.getTime() / HOUR), actor, action, { organisation_id, key_id }, details];
    const change = { $setOnInsert: { ...members, at }, $inc: { times: 1 }, $set: { last_at: at } };
    const { upsertedCount } = await rows.updateOne({ _id: uuidOf(JSON.stringify(same)) }, change, {
      ...options,
      upsert: true,
    });
    return upsertedCount > 0;
  }

  return {
    /** Stores an event in a transaction. @throws AppError rate_limited if the organisation has had as many as it may in 24 hours */
    async inTransaction(session: ClientSession, ...event: Parameters<RecordEvent>): Promise<void> {
      const row = rowOf(...event);
      if (await storeEvent(row, session)) await requireBudget(row, session);
    },
    /** Stores the event of a change that was made outside the control database, and before. */
    outsideTransaction: async (
      actor: Actor,
      action: UnbudgetedAction,
      id: string,
      details: Record<string, unknown>,
    ): Promise<void> => {
      await storeEvent(rowOf(actor, action, id, details));
    },
  };
}

/** The same id for the same text: a UUID of version 8 (RFC 9562). */
function uuidOf(text: string): string {
  const digits = hash('sha256', text, 'hex');
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`];
  return [...parts, digits.slice(20, 32)].join('-');
}

function waitText(seconds: number): string {
  const minutes = Math.ceil((seconds * SECOND) / MINUTE);
  return minutes <= 120 ? `${String(minutes)} min` : `${String(Math.ceil(minutes / 60))} hours`;
}
