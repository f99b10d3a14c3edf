import { rangesOf } from '../../auth/keys';
import type { CustomerAction } from '../../organisations/audit';
import type { Authority } from '../../organisations/auditEvents';
import { customerById, readmitCustomer } from '../../resources/customers/readmit';
import { eraseCustomer } from '../../resources/eraseCustomer';
import { CommandFailure } from '../ending';
import type { Store } from '../store';
import { refuseMoving } from '../withStore';
import type { Kind, Step } from './plan';

/* Does again what was done since a backup, with the functions that commands and the operator API call. */

/** What one step does. */
interface Action {
  /** Whether there is something to do; undefined if its object is not there. Called once, before `run`. */
  readonly isDue: () => Promise<boolean | undefined>;
  readonly run: () => Promise<unknown>;
}

/** The name of the actor in the audit log. */
const REPLAY = 'replay after a restore';

interface Replay {
  readonly store: Store;
  readonly signal: AbortSignal;
}

/** Creates the actions of steps; the audit log says that they were replayed. */
export function createActions({ store, signal }: Replay): (step: Step) => Action {
  const { control, databases, operator } = store;
  const actor = { ...operator, name: REPLAY };
  const by: Authority = { actor };
  const { organisations, record } = control.as(actor);

  /** Whether an organisation that is not being erased lacks something. */
  async function isOrganisationDue(id: string, lacks: (it: { state: string; plan: string }) => boolean) {
    const organisation = await organisations.find(id);
    if (!organisation) return undefined;
    return organisation.state !== 'erasing' && lacks(organisation);
  }

  /** The customer of a step with its organisation's data; undefined if either is not there. @throws CommandFailure if the data is being moved */
  async function customerOf({ organisationId, id }: Step) {
    const organisation = await organisations.find(organisationId);
    if (!organisation || organisation.state === 'erasing') return undefined;
    refuseMoving(organisation);
    const data = databases.organisationData(organisation);
    const customer = await customerById(data, id);
    return customer ? { data, customer } : undefined;
  }

  /** Whether an endpoint is not disabled; undefined if it is not there. */
  async function isEnabled(organisationId: string, id: string) {
    const endpoint = await control.webhooks.find(id, { organisationId });
    return endpoint && endpoint.state !== 'disabled';
  }

  type Owned = NonNullable<Awaited<ReturnType<typeof customerOf>>>;

  /**
   * What is done to a customer, who is read once, when it is asked whether that is due. The audit log says whether it was done since, as the row
   * cannot: one who was erased and readmitted looks like one who never was, and an erasure that was interrupted looks complete.
   */
  function toCustomer(step: Step, action: CustomerAction, work: (owned: Owned) => Promise<unknown>): Action {
    const { organisationId, id: customerId, at } = step;
    let owned: Owned | undefined;
    return {
      isDue: async () => {
        owned = await customerOf(step);
        if (!owned) return undefined;
        // an event of an earlier replay at that very time counts, too: the log may have its line, from which the step is made
        return !(await control.audit.hasCustomerEvent({
          organisationId,
          customerId,
          action,
          after: at,
          replayName: REPLAY,
        }));
      },
      run: async () => {
        if (owned) await work(owned);
      },
    };
  }

  const actions: Record<Kind, (step: Step) => Action> = {
    suspend: ({ id }) => ({
      isDue: () => isOrganisationDue(id, ({ state }) => state !== 'suspended'),
      run: () => organisations.suspend(id),
    }),
    resume: ({ id }) => ({
      isDue: () => isOrganisationDue(id, ({ state }) => state !== 'active'),
      run: () => organisations.resume(id),
    }),
    plan: ({ id, plan = '' }) => ({
      isDue: async () => {
        const isDue = await isOrganisationDue(id, (organisation) => organisation.plan !== plan);
        const fault = control.plans.faultOf(plan);
        if (isDue && fault !== undefined) throw new CommandFailure(`its plan was ${plan}, which ${fault} (PLANS_FILE)`);
        return isDue;
      },
      run: () => organisations.setPlan(id, plan),
    }),
    erase: ({ id, at }) => ({
      isDue: async () => {
        if (!(await isOrganisationDue(id, () => true))) return false;
        // brought back under its id since; its row may have the time of the former one, by import --organisation
        const [created] = await control.audit.list({ organisationId: id, action: 'organisation.created', limit: 1 });
        return !(created && created.at > at);
      },
      run: () => control.jobs.findOrCreate({ kind: 'erasure', organisationId: id, to: null }, actor),
    }),
    revoke: ({ id }) => ({
      isDue: async () => {
        const key = await control.apiKeys.find(id);
        return key ? key.revoked_at === null : undefined;
      },
      run: () => control.apiKeys.revoke(id, by),
    }),
    change: ({ id, update = {} }) => ({
      isDue: async () => {
        const key = await control.apiKeys.find(id);
        if (!key) return undefined;
        const stored = { ...key, allowed_ranges: rangesOf(key) };
        const differs = Object.entries(update).some(
          ([name, value]) => JSON.stringify(stored[name as keyof typeof update]) !== JSON.stringify(value),
        );
        return control.apiKeys.stateOf(key) === 'active' && differs;
      },
      run: async () => {
        const { expires_at, ...others } = update;
        // apart and first: another expiry is refused if the key was already replaced before the backup
        await control.apiKeys.update(id, others, by);
        const key = await control.apiKeys.find(id);
        const isOver = expires_at && expires_at.getTime() <= databases.now();
        if (key?.rotated_to && isOver) await control.apiKeys.revoke(id, by);
        else await control.apiKeys.update(id, { expires_at }, by);
      },
    }),
    sign_out: ({ organisationId, id, at }) => {
      const whose = { organisationId, ...(id !== '' && { userId: id }) };
      return {
        isDue: () => control.sessions.hasFrom(whose, at),
        run: () => control.sessions.endAll(whose, actor),
      };
    },
    disable: ({ organisationId, id, reason = 'by_hand' }) => ({
      isDue: () => isEnabled(organisationId, id),
      run: () => control.webhooks.disable(id, reason, { ...by, organisationId }),
    }),
    // it has its former address, which may be somebody else's by now, or a secret that was replaced because it leaked
    disable_changed: ({ organisationId, id, at }) => ({
      isDue: async () => {
        const isDue = await isEnabled(organisationId, id);
        // changed after the restore, or disabled by an earlier call, and enabled by somebody who looked
        const actions = ['webhook.updated', 'webhook.rotated', 'webhook.disabled'] as const;
        return isDue && !(await control.audit.hasEndpointEvent({ organisationId, endpoint: id, actions, since: at }));
      },
      run: () => control.webhooks.disable(id, 'by_hand', { ...by, organisationId }),
    }),
    delete: ({ organisationId, id }) => ({
      isDue: async () => ((await control.webhooks.find(id, { organisationId })) ? true : undefined),
      run: () => control.webhooks.remove(id, { ...by, organisationId }),
    }),
    erase_customer: (step) =>
      toCustomer(step, 'customer.erased', async ({ data }) => {
        const { organisationId, id } = step;
        const counts = await eraseCustomer(data, id, { by: 'operator', signal });
        await record('customer.erased', organisationId, { customer_id: id, ...counts });
      }),
    readmit: (step) =>
      toCustomer(step, 'customer.readmitted', async ({ data, customer }) => {
        await readmitCustomer(data, customer, 'operator');
        await record('customer.readmitted', step.organisationId, { customer_id: step.id });
      }),
  };
  return (step) => actions[step.kind](step);
}
