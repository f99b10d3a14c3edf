import type { Fault } from '../errors';
import type { ImportRecord, RecordRules } from '../stored/records';

/** Rules across members, by type (contract, section 3). */
export const RULES: Readonly<Record<string, RecordRules>> = {
  Quote: { rules: (quote) => [...amountFaults(quote), ...decisionFaults(quote)], decimals: ['discount_pct'] },
  Order: { rules: amountFaults, decimals: ['discount_pct'] },
};

/** Faults of a quote without the times that its status requires, or with one that it excludes. */
function decisionFaults({ status, decided_at: decidedAt, sent_at: sentAt }: ImportRecord): Fault[] {
  const isDecided = status === 'accepted' || status === 'declined';
  const isSent = status !== 'draft' && status !== 'withdrawn';
  const faults: Fault[] = [];
  const add = (pointer: string, detail: string): unknown => faults.push({ pointer, code: 'status', detail });
  // not === null, since a row that another program stored may lack a member
  if (isDecided !== (decidedAt != null))
    add('/decided_at', 'must be set if and only if status is accepted or declined');
  if (isSent && sentAt == null) add('/sent_at', 'must be set for every status except draft and withdrawn');
  return faults;
}

/** Rules for the amounts and lines of a quote or order: the total adds up, positions ascend from 0 without gaps. */
function amountFaults(record: ImportRecord): Fault[] {
  const faults: Fault[] = [];
  const total = totalOf(record as unknown as Amounts);
  if (record.total_minor !== total) {
    faults.push({
      pointer: '/total_minor',
      code: 'total',
      detail: `must be ${String(total)}, the sum of the other amounts`,
    });
  }
  (record.lines as readonly { readonly position: number }[]).forEach((line, index) => {
    if (line.position === index) return;
    faults.push({
      pointer: `/lines/${String(index)}/position`,
      code: 'order',
      detail: `must be ${String(index)}: positions ascend from 0`,
    });
  });
  return faults;
}

/** In minor units of one currency, exact up to 2^53-1 (contract, section 1). */
interface Amounts {
  readonly subtotal_minor: number;
  readonly discount_minor: number;
  readonly vat_minor: number;
  readonly shipping_minor?: number;
}

/** total = subtotal - discount + vat (+ shipping), in minor units. */
export function totalOf(amounts: Amounts): number {
  // intermediate sums may exceed the exact range even if the total does not
  const { subtotal_minor: subtotal, discount_minor: discount, vat_minor: vat, shipping_minor: shipping = 0 } = amounts;
  return Number(BigInt(subtotal) - BigInt(discount) + BigInt(vat) + BigInt(shipping));
}
