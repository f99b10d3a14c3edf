import { join } from 'node:path';
import { customerById, customerByRef, readmitCustomer } from '../resources/customers/readmit';
import { eraseCustomer } from '../resources/eraseCustomer';
import { eraseOrganisation } from '../jobs/eraseOrganisation';
import { CommandFailure, interrupted, interruption, notFound, rethrowInterrupted } from './ending';
import { checkFolder, exportFolder } from './export/command';
import { type OrganisationFile, readOrganisation } from './import/organisationFile';
import type { JsonOption, OrgOption } from './help';
import type { Store } from './store';
import { note, printResult } from './terminal';
import { requireConfirmed, requireData, withStore } from './withStore';

/* `scopegate customer erase`, `scopegate customer readmit` and `scopegate org erase`. */

interface Confirmed {
  readonly confirm: string;
}

export async function eraseCustomerCommand(id: string, { org, confirm, json }: OrgOption & Confirmed): Promise<void> {
  const signal = interruption();
  const erased = await withStore(async (store) => {
    const organisation = await requireData(store, org);
    const data = store.databases.organisationData(organisation);
    const customer = await customerById(data, id);
    if (!customer)
      throw new CommandFailure(`customer ${id} not found; see GET /api/v1/customers, or export --org ${org}`);
    // an erased customer has no name to confirm, and erasing it again is harmless
    if (!customer.erased_at) requireConfirmed('customer', confirm, customer.name);
    const counts = await eraseCustomer(data, customer._id, { by: 'operator', signal });
    // each time: an attempt before may have been killed between the two, and `restored --replay` goes by the events alone
    await store.control.record('customer.erased', organisation.id, { customer_id: customer._id, ...counts });
    return { id: customer._id, counts };
  }, signal).catch(rethrowInterrupted('run the same command again to continue'));
  const texts = Object.entries(erased.counts).map(([collection, count]) => `${String(count)} in ${collection}`);
  const result = { id: erased.id, erased: erased.counts };
  printResult(json, result, `Erased the personal data of customer ${erased.id}: changed ${texts.join(', ')}.`);
}

/** Accepts writes of an erased customer again. Each member gets a value again when it is next sent. */
export async function readmitCustomerCommand(ref: string, { org, json }: OrgOption): Promise<void> {
  const readmitted = await withStore(async (store) => {
    const organisation = await requireData(store, org);
    const data = store.databases.organisationData(organisation);
    const customer = (await customerByRef(data, ref)) ?? (await customerById(data, ref));
    if (!customer)
      throw new CommandFailure(`there is no customer with the external_ref or id ${ref}; see GET /api/v1/customers`);
    const { _id } = customer;
    if (!customer.erased_at) throw new CommandFailure(`customer ${ref} (id ${_id}) was not erased`);
    // first: killed between the two, the customer is still erased, and the repeat records it again
    await store.control.record('customer.readmitted', organisation.id, { customer_id: _id });
    await readmitCustomer(data, customer, 'operator');
    return { id: _id, external_ref: customer.external_ref };
  });
  printResult(json, readmitted, `Customer ${ref} (id ${readmitted.id}) can be written again.`);
}

interface EraseOptions extends JsonOption, Confirmed {
  /** Folder for the export instead of the default one; false for no export. */
  readonly export?: string | false;
}

export async function eraseOrganisationCommand(id: string, options: EraseOptions): Promise<void> {
  const signal = interruption();
  const exported = await withStore(async (store, { DATA_DIR }) => {
    const folder = options.export === false ? undefined : (options.export ?? join(DATA_DIR, 'erased', id));
    return erase(store, { id, confirm: options.confirm, folder, signal });
  }, signal);
  const where =
    exported === undefined
      ? 'This run exported nothing.'
      : `Its data are in ${exported}. Delete them when nobody needs them any more.`;
  printResult(options.json, { id, erased: true, export: exported ?? null }, `Organisation ${id} is erased.\n${where}`);
}

interface EraseRequest extends Confirmed {
  readonly id: string;
  /** Where to export to; undefined for no export. */
  readonly folder: string | undefined;
  readonly signal: AbortSignal;
}

/** What an attempt has done, and what to do, once the keys are revoked: no data is deleted before it is exported. */
const CONTINUE = 'its keys are revoked already: run the same command again to continue';
const KEYS_REVOKED =
  'The keys of the organisation are revoked already: once this is corrected, run the same command again';

/**
 * Erases an organisation, or what an earlier attempt left of it. Resolves with the folder of the export; undefined if this run made none, as
 * after an attempt that had made one or was not to. @throws CommandFailure, after which it can be run again
 */
export async function erase(store: Store, { id, confirm, folder, signal }: EraseRequest): Promise<string | undefined> {
  let exported: string | undefined;
  const erased = await eraseOrganisation(store, id, {
    async check({ name, state }) {
      requireConfirmed('organisation', confirm, name);
      // what is there may be the only copy of a former organisation with this id, whose import into this one failed
      if (folder !== undefined && state !== 'erasing') await checkNew(folder);
      // from here on the keys are revoked for good
      if (signal.aborted) throw interrupted('nothing was changed');
    },
    ...(folder !== undefined && {
      async exportTo(organisation, data, requireWhole) {
        // an attempt that was killed before its export was noted has left files; those of a former organisation with this id stay
        const left = organisation.state === 'erasing' ? organisationIn(folder) : undefined;
        const force = left?.id === id && Number(left.created_at) === Number(organisation.created_at);
        // without keys, which must never work again
        await exportFolder({ folder, force, organisation, data, signal, requireWhole }).catch((error: unknown) => {
          if (signal.aborted) throw interrupted(CONTINUE);
          throw error instanceof CommandFailure ? new CommandFailure(`${error.message}\n${KEYS_REVOKED}`) : error;
        });
        exported = folder;
        note(`exported to ${folder}`);
      },
    }),
    mayDrop() {
      if (signal.aborted) throw interrupted(CONTINUE);
    },
  });
  if (!erased) throw notFound('organisation', id);
  return exported;
}

/** What the organisation.json of a folder says; undefined also if it cannot be read, since it may be another organisation's then. */
function organisationIn(folder: string): OrganisationFile | undefined {
  try {
    return readOrganisation(folder);
  } catch (error) {
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
}

/** Checks that an export can be written to a folder, and replaces none. @throws CommandFailure */
async function checkNew(folder: string): Promise<void> {
  await checkFolder({ folder, force: false }).catch((error: unknown) => {
    if (!(error instanceof CommandFailure)) throw error;
    throw new CommandFailure(`${error.message}\nNothing was changed; --export DIR exports to another folder`);
  });
}
