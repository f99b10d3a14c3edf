import { trusted } from 'mongoose';
import type { Resolver, Resolvers } from '../operations/run';
import { published } from '../schema/model';
import {
  aggregate,
  decimal,
  exact,
  ifWithin,
  ofStatus,
  type Rows,
  shownAsText,
  type Span,
  type TotalsContext,
  spanStage,
} from '../stored/totals';
import type { Resource } from '../stored/resource';

const DEFAULT_LIMIT = published.defaultOf('product_sales', 'limit');

interface ProductSalesArguments extends Span {
  readonly status?: readonly string[] | null;
  /** Rows per currency: a product sold in two units has two. */
  readonly limit?: number | null;
}

/** A row of the answer; `qty`, a sum of decimals, is a Decimal128. */
type Sale = Readonly<Record<string, unknown>> & { readonly qty: { toString(): string } };

/** The members of an order's lines that the answer is made of. */
const LINE_MEMBERS = ['sku', 'uom', 'qty', 'unit_price_minor', 'discount_pct', 'description'];
/** The members of orders that the answer is made of: a row in which one of them is invalid is left out. */
const usedOf = ({ stored }: Resource) =>
  stored.members.flatMap((member) => {
    if (member.name === 'currency') return [member];
    return member.name === 'lines'
      ? [{ ...member, members: member.members.filter(({ name }) => LINE_MEMBERS.includes(name)) }]
      : [];
  });

/** Whether the texts of a line can be shown; with others no row of the answer could be. */
const HAS_TEXTS = { $and: ['sku', 'uom', 'description'].map((name) => shownAsText(`$lines.${name}`)) };
// Decimal128, in which sums and products are exact
const QTY = decimal('$lines.qty');
const PRICE = { $toDecimal: exact('$lines.unit_price_minor') };
const PERCENT = decimal('$lines.discount_pct');
// NaN has the order left out (stored/totals.ts)
const GROSS = { $cond: [HAS_TEXTS, { $multiply: [QTY, PRICE] }, NaN] };
const DISCOUNT = { $divide: [{ $multiply: [QTY, PRICE, PERCENT] }, { $toDecimal: 100 }] };

/** Rounds half up, as amounts of lines are ($round would round half to even). The result is a Decimal128, which no amount overflows. */
function rounded(amount: object): object {
  return { $floor: { $add: [amount, { $toDecimal: '0.5' }] } };
}

/** The best-selling products per currency, from the lines of orders that are not cancelled. @throws AppError invalid_request */
async function productSales(
  orders: Pick<Parameters<typeof aggregate>[1], 'collection' | 'members'>,
  context: TotalsContext,
  { limit, status, ...span }: ProductSalesArguments,
): Promise<Rows<object>> {
  const only = ofStatus(status, { status: trusted({ $ne: 'cancelled' }) });
  const sums = await aggregate(context, { ...orders, keys: ['currency'], only }, [
    spanStage('placed_at', span),
    { $match: only },
    // read only the members of a line that are used
    { $project: { currency: 1, ...Object.fromEntries(LINE_MEMBERS.map((name) => [`lines.${name}`, 1])) } },
    { $unwind: '$lines' },
    { $match: { 'lines.sku': trusted({ $ne: null }) } },
    {
      $group: {
        _id: { sku: '$lines.sku', currency: '$currency', uom: '$lines.uom' },
        description: { $max: '$lines.description' },
        qty: { $sum: QTY },
        line_count: { $sum: 1 },
        gross_minor: { $sum: rounded(GROSS) },
        discount_minor: { $sum: rounded(DISCOUNT) },
      },
    },
    { $addFields: { net_minor: { $subtract: ['$gross_minor', '$discount_minor'] } } },
    // NaN, the sum of a row that cannot be served, ranks first, so that `limit` does not cut it off: it makes stored/totals.ts run again without such rows
    { $addFields: { rank: ifWithin('$net_minor', Number.MAX_VALUE, '$net_minor', Infinity) } },
    // not $setWindowFields, since MongoDB's $documentNumber sorts by only one member (docs/decisions/mongodb-versions.md)
    {
      $group: {
        _id: '$_id.currency',
        best: {
          $topN: { n: limit ?? DEFAULT_LIMIT, sortBy: { rank: -1, '_id.sku': 1, '_id.uom': 1 }, output: '$$ROOT' },
        },
      },
    },
    { $sort: { _id: 1 } },
    { $unwind: '$best' },
    { $replaceRoot: { newRoot: '$best' } },
  ]);
  return { ...sums, data: (sums.data as Sale[]).map((sale) => ({ ...sale, qty: Number(sale.qty.toString()) })) };
}

/** The resolver of `product_sales`, which reads the collection of orders. */
export function salesResolvers(collection: Resource): Resolvers {
  const orders = { collection, members: usedOf(collection) };
  const sales: Resolver = (_, args, context) => productSales(orders, context, args as ProductSalesArguments);
  return { Query: { product_sales: sales } };
}
