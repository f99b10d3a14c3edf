import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { mongo } from 'mongoose';
import { databaseName } from '../../src/mongo/databaseNames';
import { firstPage, type Page } from '../../src/tenant/pagination';
import { resourceOf } from '../../src/resources';
import type { Product } from '../data';
import type { Quote } from '../quote';

const resource = resourceOf('products');

/* The operations with the bare driver: the same reads and writes as Scopegate, and byte-identical answers. */

/** Returns each organisation's database, created once. */
export function databasesOf(client: mongo.MongoClient): (organisationId: string) => mongo.Db {
  const known = new Map<string, mongo.Db>();
  return (organisationId) => {
    let database = known.get(organisationId);
    if (!database) known.set(organisationId, (database = client.db(databaseName(organisationId))));
    return database;
  };
}

export async function readQuote(database: mongo.Db, id: string, face: Face): Promise<object | undefined> {
  const quote = await database.collection<Quote>('quotes').findOne({ _id: id }, { projection: { search: 0 } });
  return quote ? { ...toItem(quote, face), lines: toLines(quote) } : undefined;
}

/** Reads three members with a projection. */
export async function readTotal(database: mongo.Db, id: string): Promise<object | undefined> {
  const quote = await database
    .collection<Quote>('quotes')
    .findOne({ _id: id }, { projection: { number: 1, status: 1, total_minor: 1 } });
  return quote ? { number: quote.number, status: quote.status, total_minor: quote.total_minor } : undefined;
}

interface QuoteList {
  readonly organisationId: string;
  readonly customerId: string;
  readonly limit: number;
  readonly withLines?: boolean;
}

/** One page of a customer's newest quotes. */
export async function listQuotes(
  database: mongo.Db,
  { organisationId, customerId, limit, withLines = false }: QuoteList,
): Promise<Page<object>> {
  const rows = await database
    .collection<Quote>('quotes')
    .find({ customer_id: customerId }, { projection: withLines ? { search: 0 } : { search: 0, lines: 0 } })
    .sort({ created_at: -1, _id: -1 })
    .limit(limit + 1)
    .toArray();
  const filters = { customer_id: customerId };
  const page = firstPage(rows, { organisationId, operation: 'quotes', args: { limit }, filters });
  const toRow = withLines
    ? (quote: Quote) => ({ ...toItem(quote, 'graphql'), lines: toLines(quote) })
    : (quote: Quote) => toItem(quote, 'rest');
  return { ...page, data: page.data.map(toRow) };
}

/** REST has all members, GraphQL those that the operation selects. */
type Face = 'rest' | 'graphql';

function toItem(quote: Quote, face: Face): object {
  return {
    id: quote._id,
    number: quote.number,
    external_ref: face === 'rest' ? quote.external_ref : undefined,
    status: quote.status,
    currency: quote.currency,
    subtotal_minor: quote.subtotal_minor,
    discount_minor: quote.discount_minor,
    vat_minor: quote.vat_minor,
    total_minor: quote.total_minor,
    valid_until: quote.valid_until,
    customer_id: quote.customer_id,
    sent_at: quote.sent_at,
    decided_at: quote.decided_at,
    metadata: face === 'rest' ? Object.fromEntries(quote.metadata.map(({ key, value }) => [key, value])) : undefined,
    created_at: quote.created_at,
    updated_at: quote.updated_at,
  };
}

function toLines(quote: Quote): object[] {
  return quote.lines.map((line) => ({
    id: line.id,
    position: line.position,
    line_type: line.line_type,
    description: line.description,
    qty: line.qty,
    uom: line.uom,
    unit_price_minor: line.unit_price_minor,
    discount_pct: line.discount_pct,
    vat_exempt: line.vat_exempt,
    lead_time_days: line.lead_time_days,
  }));
}

const NEW_PRODUCT = {
  description: null,
  category: null,
  uom: 'each',
  currency: 'EUR',
  unit_price_minor: null,
  vat_exempt: false,
  lead_time_days: null,
  active: true,
};

/** Reads existing rows, compares, and writes the changes in one transaction; validates elements with hand-written code. */
/** An element of a bulk call. */
export interface ProductUpsert {
  readonly sku: string;
}

export async function upsertProducts(
  client: mongo.MongoClient,
  database: mongo.Db,
  elements: readonly ProductUpsert[],
): Promise<object> {
  const products = database.collection<Product>('products');
  if (!elements.every(isProduct)) throw new TypeError('the elements are not products');
  return client.withSession((session) =>
    session.withTransaction(async () => {
      const skus = elements.map(({ sku }) => sku);
      const rows = await products.find({ sku: { $in: skus } }, { session }).toArray();
      const existing = new Map(rows.map((row) => [row.sku, row]));
      const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 };
      const operations: Parameters<typeof products.bulkWrite>[0][number][] = [];
      const results = elements.map((element, index) => {
        const now = new Date();
        const before = existing.get(element.sku);
        const document = { ...(before ?? { _id: randomUUID(), ...NEW_PRODUCT, created_at: now }), ...element };
        const next = { ...document, updated_at: now, search: resource.words(document) } as unknown as Product;
        const isSame = before && isDeepStrictEqual(before, { ...next, updated_at: before.updated_at });
        const outcome = before ? (isSame ? 'unchanged' : 'updated') : 'created';
        counts[outcome] += 1;
        if (!before) operations.push({ insertOne: { document: next } });
        else if (!isSame) operations.push({ replaceOne: { filter: { _id: before._id }, replacement: next } });
        return { index, sku: element.sku, id: next._id, outcome, errors: [] };
      });
      if (operations.length > 0) await products.bulkWrite(operations, { session, ordered: false });
      return { ...counts, results };
    }),
  );
}

function isProduct(element: unknown): boolean {
  if (typeof element !== 'object' || element === null) return false;
  const { sku, name, unit_price_minor: price } = element as Record<string, unknown>;
  return typeof sku === 'string' && typeof name === 'string' && Number.isSafeInteger(price ?? 0);
}
