import { Schema } from 'mongoose';
import { defineCollection } from '../../database/collection';
import { type Line, lineSchema } from '../common/lines';
import { type Address, ADDRESS_SHAPE, date, number, optionalDate, optionalText, search, text } from '../common/shape';

/** A line of an order. */
export interface OrderLine extends Line {
  readonly sku: string | null;
}

/** An order as its organisation's database keeps it. Amounts in minor units. */
export interface Order {
  readonly _id: string;
  readonly number: string;
  readonly status: 'placed' | 'confirmed' | 'in_production' | 'dispatched' | 'delivered' | 'completed' | 'cancelled';
  readonly currency: string;
  readonly subtotal_minor: number;
  readonly discount_minor: number;
  readonly vat_minor: number;
  readonly shipping_minor: number;
  readonly total_minor: number;
  readonly customer_id: string | null;
  readonly quote_id: string | null;
  readonly customer_reference: string | null;
  readonly placed_at: Date;
  /** YYYY-MM-DD. */
  readonly required_by: string | null;
  readonly dispatched_at: Date | null;
  readonly delivery_address: Address | null;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly lines: readonly OrderLine[];
  readonly search: readonly string[];
}

export const orders = defineCollection<Order>(
  'orders',
  {
    _id: text,
    number: text,
    status: text,
    currency: text,
    subtotal_minor: number,
    discount_minor: number,
    vat_minor: number,
    shipping_minor: number,
    total_minor: number,
    customer_id: optionalText,
    quote_id: optionalText,
    customer_reference: optionalText,
    placed_at: date,
    required_by: optionalText,
    dispatched_at: optionalDate,
    delivery_address: { type: new Schema(ADDRESS_SHAPE, { _id: false }), default: null },
    created_at: date,
    updated_at: date,
    lines: [lineSchema({ sku: optionalText })],
    search,
  },
  [
    { on: { number: 1 }, options: { unique: true } },
    { on: { number: 1, _id: 1 } },
    { on: { created_at: -1, _id: -1 } },
    { on: { updated_at: -1, _id: -1 } },
    // all that order_totals reads, so that it reads no order
    {
      on: {
        ...{ placed_at: -1, currency: 1, status: 1, customer_id: 1 },
        ...{ subtotal_minor: 1, discount_minor: 1, vat_minor: 1, shipping_minor: 1, total_minor: 1 },
      },
      options: { name: 'totals' },
    },
    { on: { status: 1, created_at: -1, _id: -1 } },
    { on: { customer_id: 1, created_at: -1, _id: -1 } },
    { on: { search: 1 } },
  ],
);
