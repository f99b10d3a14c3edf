import { isDeepStrictEqual } from 'node:util';
import { type ClientSession, trusted } from 'mongoose';
import type { Organisation } from '../auth/principal';
import { isDuplicateKey } from '../mongo/faults';
import type { Actor, AuditAction } from './auditEvents';
import { changeInKeys } from './endedKeys';
import type { ControlModels } from './models';
import { NotImportedError, RefTakenError, SharedByOwnerError } from './organisationErrors';
import { CHANGEABLE, FOR_EARLIER_VERSIONS, forOperators, type OrganisationForOperators } from './organisationRows';

/** What a sandbox shares with its organisation. */
type SharedWithSandbox = Pick<Organisation, 'plan' | 'state'>;

/** What an export says of an organisation; a state only if it was suspended, since a new organisation is active. */
type Restored = Pick<Organisation, 'name' | 'plan' | 'currency'> &
  Partial<Pick<OrganisationForOperators, 'external_ref' | 'created_at'>> & { readonly state?: 'suspended' };

type Changes = Partial<
  Pick<OrganisationForOperators, 'name' | 'plan' | 'currency' | 'external_ref' | 'created_at'> & {
    readonly state: Exclude<Organisation['state'], 'erasing'>;
  }
>;

/** Changes organisations, as `actor`. `now` is the database's time. */
export function createOrganisationChanges(models: ControlModels, actor: Actor, now: () => number) {
  /**
   * Changes an organisation, the copies of it in its active keys, and its sandbox's plan and state, in one transaction, with the audit events
   * `eventsOf` it as it was. Resolves with it as it is then, without events if nothing changed; undefined if there is none or it is being erased.
   * @throws SharedByOwnerError; RefTakenError; NotImportedError
   */
  function change(
    id: string,
    set: Changes,
    eventsOf: (before: OrganisationForOperators) => readonly (readonly [AuditAction, Record<string, unknown>])[],
  ): Promise<OrganisationForOperators | undefined> {
    const transaction = models.change(async (session, record) => {
      const row = await models.organisations
        .findOneAndUpdate({ _id: id, state: CHANGEABLE }, { $set: set }, { session, returnDocument: 'before' })
        .lean();
      if (!row) return undefined;
      const before = forOperators(row);
      // of an earlier version, under which its data may be elsewhere
      const { cluster = FOR_EARLIER_VERSIONS.cluster } = row;
      if (set.state === 'active' && cluster !== FOR_EARLIER_VERSIONS.cluster) throw new NotImportedError(id, cluster);
      const changed = { ...before, ...set };
      if (before.external_ref !== null && changed.external_ref !== before.external_ref) {
        const refText = JSON.stringify(before.external_ref);
        throw new RefTakenError(`the external_ref of the organisation is ${refText} and cannot be changed`);
      }
      if (isDeepStrictEqual(changed, before)) return before;
      const { plan, state } = changed;
      const isShared = plan !== before.plan || state !== before.state;
      if (before.sandbox_of !== undefined && isShared) throw new SharedByOwnerError(before);
      await changeInKeys(models, { organisationId: id, set: asKeyMembers(set), now: now() }, session);
      if (isShared) await changeSandbox(id, { plan, state }, session);
      for (const [action, details] of eventsOf(before)) await record(actor, action, id, details);
      return changed;
    });
    return transaction.catch((error: unknown) => {
      throw isDuplicateKey(error) ? new RefTakenError() : error;
    });
  }

  async function changeSandbox(of: string, set: SharedWithSandbox, session: ClientSession): Promise<void> {
    const sandbox = await models.organisations
      .findOneAndUpdate({ sandbox_of: of, state: CHANGEABLE }, { $set: set }, { session })
      .lean();
    if (!sandbox) return;
    await changeInKeys(models, { organisationId: sandbox._id, set: asKeyMembers(set), now: now() }, session);
  }

  /** Changes the given members, with an audit event for each. @throws as {@link change} */
  const update = (id: string, set: Pick<Changes, 'name' | 'plan' | 'state' | 'external_ref'>) =>
    change(id, set, (before) => {
      const fromTo = (member: keyof typeof set) => ({ from: before[member], to: set[member] });
      const { name = before.name, plan = before.plan, state = before.state, external_ref = before.external_ref } = set;
      const action = state === 'active' ? 'organisation.resumed' : 'organisation.suspended';
      return [
        ...(name === before.name ? [] : [['organisation.renamed', fromTo('name')] as const]),
        ...(plan === before.plan ? [] : [['organisation.plan_changed', fromTo('plan')] as const]),
        ...(state === before.state ? [] : [[action, {}] as const]),
        ...(external_ref === before.external_ref ? [] : [['organisation.ref_set', { external_ref }] as const]),
      ];
    });

  return {
    /** Records that an organisation has its data here now, wherever an earlier version stored it: it can be resumed. Nothing in this version reads the copies of `cluster` in keys. */
    async noteImported(id: string): Promise<void> {
      const elsewhere = trusted({ $nin: [FOR_EARLIER_VERSIONS.cluster, null] });
      await models.organisations.updateOne({ _id: id, cluster: elsewhere }, { $set: FOR_EARLIER_VERSIONS });
    },
    /** Records that keys of an organisation read changes with `updated_since`. */
    async noteFollowed(id: string): Promise<void> {
      await models.organisations.updateOne({ _id: id, followed_at: null }, { $set: { followed_at: new Date(now()) } });
    },
    update,
    rename: (id: string, name: string) => update(id, { name }),
    setPlan: (id: string, plan: string) => update(id, { plan }),
    /** Once this resolves, no gateway serves a new request from its keys or users. */
    suspend: (id: string) => update(id, { state: 'suspended' }),
    resume: (id: string) => update(id, { state: 'active' }),
    /** Gives an organisation what an export says of it. @throws as {@link change} */
    restore: (id: string, set: Restored) =>
      change(id, set, ({ name, plan, currency, state, external_ref }) => {
        const to = { name: set.name, plan: set.plan, currency: set.currency };
        const { external_ref: ref = external_ref } = set;
        return [
          ['organisation.restored', { from: { name, plan, currency }, to }],
          ...((set.state ?? state) === state ? [] : [['organisation.suspended', {}] as const]),
          ...(ref === external_ref ? [] : [['organisation.ref_set', { external_ref: ref }] as const]),
        ];
      }),
  };
}

/** Turns a change of an organisation into a change of the copies of it in keys, which lack two of its members. */
const asKeyMembers = ({ external_ref: _ref, created_at: _at, ...set }: Partial<OrganisationForOperators>): object =>
  Object.fromEntries(Object.entries(set).map(([member, value]) => [`organisation.${member}`, value]));
