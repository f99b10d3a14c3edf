import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import type { Json } from './client';

/* What another program may store with its own driver. */

const { Decimal128, Long, ObjectId } = mongoose.mongo;

export type Members = Json;

/** A quote that another program stored rightly. */
export const goodQuote = (number: string): Members => ({
  _id: randomUUID(),
  number,
  status: 'draft',
  customer_id: null,
  currency: 'EUR',
  valid_until: null,
  sent_at: null,
  decided_at: null,
  created_at: new Date(),
  updated_at: new Date(),
  subtotal_minor: 100,
  discount_minor: 0,
  vat_minor: 0,
  total_minor: 100,
  search: ['q', number],
  lines: [
    {
      id: randomUUID(),
      position: 0,
      line_type: 'product',
      sku: null,
      product_id: null,
      description: 'x',
      qty: 1,
      uom: 'each',
      unit_price_minor: 100,
      discount_pct: 0,
      vat_exempt: false,
      lead_time_days: null,
    },
  ],
});

/** What another program does to a row, and which member keeps it from being served; undefined if nothing does. */
export const MISTAKES: readonly [string, (row: Members) => void, string | undefined][] = [
  ['nothing', () => undefined, undefined],
  ['no search words', (row) => delete row.search, undefined],
  ['an ObjectId as _id', (row) => (row._id = new ObjectId()), '/id'],
  ['a text as _id', (row) => (row._id = 'quote-42'), '/id'],
  ['a Date for a day', (row) => (row.valid_until = new Date()), '/valid_until'],
  ['a text for a day', (row) => (row.valid_until = '31.01.2026'), '/valid_until'],
  ['created_at as a text', (row) => (row.created_at = new Date().toISOString()), '/created_at'],
  ['created_at in milliseconds', (row) => (row.created_at = Date.now()), '/created_at'],
  ['no updated_at', (row) => delete row.updated_at, '/updated_at'],
  ['a null updated_at', (row) => (row.updated_at = null), '/updated_at'],
  ['no lines', (row) => delete row.lines, '/lines'],
  ['a line without id', (row) => delete row.lines[0].id, '/lines/0/id'],
  ['a line without discount_pct', (row) => delete row.lines[0].discount_pct, '/lines/0/discount_pct'],
  ['lines as an object', (row) => (row.lines = { 0: row.lines[0] }), '/lines'],
  ['a status of its own', (row) => (row.status = 'mine'), '/status'],
  ['a Decimal128 quantity', (row) => (row.lines[0].qty = Decimal128.fromString('1.5')), '/lines/0/qty'],
  ['a Decimal128 amount', (row) => (row.total_minor = Decimal128.fromString('100')), '/total_minor'],
  ['a fractional amount', (row) => (row.total_minor = 100.5), '/total_minor'],
  ['a text as an amount', (row) => (row.vat_minor = 'none'), '/vat_minor'],
  ['a long amount', (row) => (row.total_minor = Long.fromNumber(100)), undefined],
  ['members of its own', (row) => Object.assign(row, { project_code: 'P', __v: 0 }), undefined],
  ['no currency', (row) => delete row.currency, '/currency'],
  ['a null number', (row) => (row.number = null), '/number'],
  [
    'no optional members',
    (row) => Object.assign(row, { valid_until: undefined, customer_id: undefined, sent_at: undefined }),
    undefined,
  ],
  ['an ObjectId as customer', (row) => (row.customer_id = new ObjectId()), '/customer_id'],
  ['an unknown customer', (row) => (row.customer_id = randomUUID()), undefined],
  ['sent without sent_at', (row) => (row.status = 'sent'), undefined],
  ['totals that do not add up', (row) => (row.total_minor = 999), undefined],
  ['a currency in small letters', (row) => (row.currency = 'eur'), '/currency'],
  ['a line without optional members', (row) => delete row.lines[0].lead_time_days, undefined],
];
