import { defineCollection } from '../../database/collection';
import { type Line, lineSchema } from '../common/lines';
import { date, number, optionalDate, optionalText, search, text } from '../common/shape';

/** A quote as its organisation's database keeps it. Amounts in minor units. */
export interface Quote {
  readonly _id: string;
  readonly number: string;
  readonly status: 'draft' | 'sent' | 'accepted' | 'declined' | 'expired' | 'withdrawn';
  readonly currency: string;
  readonly subtotal_minor: number;
  readonly discount_minor: number;
  readonly vat_minor: number;
  readonly total_minor: number;
  /** YYYY-MM-DD. */
  readonly valid_until: string | null;
  readonly customer_id: string | null;
  readonly sent_at: Date | null;
  readonly decided_at: Date | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly lines: readonly Line[];
  readonly search: readonly string[];
}

export const quotes = defineCollection<Quote>(
  'quotes',
  {
    _id: text,
    number: text,
    status: text,
    currency: text,
    subtotal_minor: number,
    discount_minor: number,
    vat_minor: number,
    total_minor: number,
    valid_until: optionalText,
    customer_id: optionalText,
    sent_at: optionalDate,
    decided_at: optionalDate,
    created_at: date,
    updated_at: date,
    lines: [lineSchema()],
    search,
  },
  [
    { on: { number: 1 }, options: { unique: true } },
    { on: { number: 1, _id: 1 } },
    { on: { created_at: -1, _id: -1 } },
    { on: { updated_at: -1, _id: -1 } },
    { on: { status: 1, created_at: -1, _id: -1 } },
    { on: { customer_id: 1, created_at: -1, _id: -1 } },
    { on: { search: 1 } },
    // all that quote_totals reads, so that it reads no quote
    {
      on: {
        ...{ created_at: -1, currency: 1, status: 1, customer_id: 1 },
        ...{ subtotal_minor: 1, discount_minor: 1, vat_minor: 1, total_minor: 1 },
      },
      options: { name: 'totals' },
    },
  ],
);
