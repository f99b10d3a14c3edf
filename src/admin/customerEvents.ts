import type { Control } from '../organisations/control';

/*
 * The audit events of erased customers. `restored --replay` goes by them alone, and a process may be killed after it changed a customer and before
 * it recorded that: so a repeated call records what is missing.
 */

interface Log {
  readonly audit: Pick<Control['audit'], 'lastOfCustomer'>;
  readonly record: Control['record'];
}

interface Subject {
  readonly organisationId: string;
  readonly customerId: string;
}

/** Records an erasure, unless it changed nothing and one is recorded. */
export async function recordErasure(
  log: Log,
  { organisationId, customerId }: Subject,
  erased: Readonly<Record<string, number>>,
): Promise<void> {
  const hasChanged = Object.values(erased).some((count) => count > 0);
  if (!hasChanged && (await log.audit.lastOfCustomer(organisationId, customerId)) === 'customer.erased') return;
  await log.record('customer.erased', organisationId, { customer_id: customerId, ...erased });
}

/** Records a readmission, or one whose event is missing. Resolves with whether there was any. */
export async function recordReadmission(
  log: Log,
  { organisationId, customerId }: Subject,
  wasErased: boolean,
): Promise<boolean> {
  if (!wasErased && (await log.audit.lastOfCustomer(organisationId, customerId)) !== 'customer.erased') return false;
  await log.record('customer.readmitted', organisationId, { customer_id: customerId });
  return true;
}
