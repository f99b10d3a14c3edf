import { Schema } from 'mongoose';
import type { Fault } from '../../errors';
import { totalOf } from './money';
import type { ImportRecord } from './records';
import { flag, number, optionalNumber, text } from './shape';

/** A line of a quote or an order (contract, section 3). */
export interface Line {
  /** UUID. */
  readonly id: string;
  /** From 0. */
  readonly position: number;
  readonly line_type: 'product' | 'configured' | 'service' | 'manual';
  readonly description: string;
  /** Decimal. */
  readonly qty: number;
  readonly uom: string;
  /** Minor units. */
  readonly unit_price_minor: number;
  /** Percent. */
  readonly discount_pct: number;
  readonly vat_exempt: boolean;
  /** Days. */
  readonly lead_time_days: number | null;
}

const LINE_SHAPE = {
  id: text,
  position: number,
  line_type: text,
  description: text,
  qty: number,
  uom: text,
  unit_price_minor: number,
  discount_pct: number,
  vat_exempt: flag,
  lead_time_days: optionalNumber,
} as const;

/** The shape of lines; `more` are additional members, as in an order's lines. */
export function lineSchema(more: Record<string, object> = {}): Schema {
  return new Schema({ ...LINE_SHAPE, ...more }, { _id: false });
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
