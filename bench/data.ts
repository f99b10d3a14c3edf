import { type Random, seeded } from '../faults/random';
import { resourceOf } from '../src/resources';
import { totalOf } from '../src/resources/rules';
import type { Line, Quote } from './quote';

const products = resourceOf('products');
const quotes = resourceOf('quotes');

/* Generated documents as `import` would store them; the same seed gives the same documents. */

const DAY = 24 * 60 * 60 * 1000;
const START = Date.UTC(2024, 0, 1);
const NOUNS = ['bracket', 'panel', 'hinge', 'flange', 'gasket', 'valve', 'bearing', 'coupling', 'housing', 'spindle'];
const FINISHES = ['galvanised', 'anodised', 'brushed', 'painted', 'raw', 'hardened', 'polished', 'coated'];

function uuid(random: Random): string {
  const part = (digits: number): string =>
    Math.floor(random() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0');
  return `${part(8)}-${part(4)}-4${part(3)}-8${part(3)}-${part(6)}${part(6)}`;
}

export interface QuoteShape {
  /** Lines per quote. */
  readonly lines: number;
  /** Quotes per customer. */
  readonly perCustomer: number;
}

/** An infinite sequence of quotes, one per minute of simulated time. */
export function* quotesOf(seed: number, { lines, perCustomer }: QuoteShape): Generator<Quote, never> {
  const random = seeded(seed);
  let customer = uuid(random);
  for (let at = 0; ; at += 1) {
    if (at % perCustomer === 0) customer = uuid(random);
    yield quoteAt(random, at, customer, lines);
  }
}

function quoteAt(random: Random, at: number, customer: string, count: number): Quote {
  const createdAt = new Date(START + at * 60_000);
  const lines = Array.from({ length: count }, (_none, position) => line(random, position));
  const subtotal_minor = lines.reduce((sum, { qty, unit_price_minor }) => sum + Math.round(qty * unit_price_minor), 0);
  const amounts = { subtotal_minor, discount_minor: 0, vat_minor: Math.round(subtotal_minor / 5) };
  const number = `Q-${String(at).padStart(7, '0')}`;
  return {
    _id: uuid(random),
    number,
    external_ref: null,
    status: 'sent',
    currency: 'EUR',
    ...amounts,
    total_minor: totalOf(amounts),
    valid_until: new Date(createdAt.getTime() + 30 * DAY).toISOString().slice(0, 10),
    customer_id: customer,
    sent_at: createdAt,
    decided_at: null,
    metadata: [],
    created_at: createdAt,
    updated_at: createdAt,
    lines,
    search: quotes.words({ number }),
  };
}

function line(random: Random, position: number): Line {
  return {
    id: uuid(random),
    position,
    line_type: 'product',
    description: `${pick(random, FINISHES)} ${pick(random, NOUNS)} ${String(Math.floor(random() * 900) + 100)} mm`,
    qty: Math.floor(random() * 40) + 0.5,
    uom: 'each',
    unit_price_minor: Math.floor(random() * 100_000),
    discount_pct: Math.floor(random() * 4) * 2.5,
    vat_exempt: false,
    lead_time_days: Math.floor(random() * 30),
  };
}

/** The sku of a product by its set and its position in it. */
export function skuOf(set: number, at: number): string {
  return `S${String(set).padStart(2, '0')}-${String(at).padStart(4, '0')}`;
}

/** A row of products. */
export interface Product {
  readonly _id: string;
  readonly sku: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export function productsOf(seed: number, sets: number, perSet: number): Product[] {
  const random = seeded(seed);
  return Array.from({ length: sets * perSet }, (_none, at) => {
    const members = {
      sku: skuOf(Math.floor(at / perSet), at % perSet),
      name: `${pick(random, FINISHES)} ${pick(random, NOUNS)}`,
      description: null,
      category: pick(random, NOUNS),
    };
    const createdAt = new Date(START + at * 1000);
    return {
      _id: uuid(random),
      ...members,
      uom: 'each',
      currency: 'EUR',
      unit_price_minor: Math.floor(random() * 100_000),
      vat_exempt: false,
      lead_time_days: null,
      active: true,
      created_at: createdAt,
      updated_at: createdAt,
      search: products.words(members),
    };
  });
}

export function pick<T>(random: Random, values: readonly T[]): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error('nothing to pick from');
  return value;
}
