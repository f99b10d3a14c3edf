import { customers } from '../resources/customers/customers';
import { eraseCustomer } from '../resources/eraseCustomer';
import { ERASED } from '../schema/personal';
import { CommandFailure, interrupted, isAbort } from './common/failure';
import type { OrgOption } from './common/help';
import { interruption } from './common/signals';
import { printResult } from './common/terminal';
import { requireConfirmed, requireOrganisation, withStore } from './common/withStore';

interface EraseOptions extends OrgOption {
  readonly confirm: string;
}

/** `scopegate customer erase`. */
export async function eraseCommand(id: string, { org, confirm, json }: EraseOptions): Promise<void> {
  const signal = interruption();
  const erased = await withStore(async (store) => {
    const data = await store.databases.open(await requireOrganisation(store, org));
    const customer = await data.collection(customers).findById(id).lean();
    if (!customer)
      throw new CommandFailure(`customer ${id} not found; see GET /api/v1/customers, or export --org ${org}`);
    // once it is erased its name is no longer known, and running this again does no harm
    if (customer.name !== ERASED) requireConfirmed('customer', confirm, customer.name);
    const found = await eraseCustomer(data, id, signal);
    const changed = Object.values(found).some((count) => count > 0);
    if (changed) await store.control.record('customer.erased', org, { customer_id: id, ...found });
    return found;
  }, signal).catch((error: unknown) => {
    throw isAbort(error) ? interrupted('run the same command again to continue') : error;
  });
  const counts = Object.entries(erased).map(([collection, count]) => `${String(count)} in ${collection}`);
  printResult(json, { id, erased }, `Erased the personal data of customer ${id}: changed ${counts.join(', ')}.`);
}
