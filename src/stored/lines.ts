import type { Fault } from '../errors';
import type { ImportRecord } from './records';

/** A line of a quote or an order (contract, section 3). */
export interface Line {
  readonly id: string;
  /** From 0. */
  readonly position: number;
  readonly line_type: 'product' | 'configured' | 'service' | 'manual';
  readonly description: string;
  /** Decimal. */
  readonly qty: number;
  readonly uom: string;
  readonly unit_price_minor: number;
  readonly discount_pct: number;
  readonly vat_exempt: boolean;
  readonly lead_time_days: number | null;
}

/** Rules for the amounts and lines of a quote or order: the total adds up, positions ascend from 0 without gaps. */
export function amountFaults(record: ImportRecord): Fault[] {
  const faults: Fault[] = [];
  const total = totalOf(record as unknown as Parameters<typeof totalOf>[0]);
  if (record.total_minor !== total) {
    faults.push({
      pointer: '/total_minor',
      code: 'total',
      detail: `must be ${String(total)}, the sum of the other amounts`,
    });
  }
  (record.lines as Line[]).forEach((line, index) => {
    if (line.position === index) return;
    faults.push({
      pointer: `/lines/${String(index)}/position`,
      code: 'order',
      detail: `must be ${String(index)}: positions ascend from 0`,
    });
  });
  return faults;
}

/** Amounts in minor units of one currency, exact up to 2^53-1 (contract, section 1). */
interface Totals {
  readonly subtotal_minor: number;
  readonly discount_minor: number;
  readonly vat_minor: number;
  readonly shipping_minor?: number;
}

/** total = subtotal - discount + vat (+ shipping), in minor units. */
export function totalOf(amounts: Totals): number {
  // intermediate sums may exceed the exact range even if the total does not
  const { subtotal_minor: subtotal, discount_minor: discount, vat_minor: vat, shipping_minor: shipping = 0 } = amounts;
  return Number(BigInt(subtotal) - BigInt(discount) + BigInt(vat) + BigInt(shipping));
}
