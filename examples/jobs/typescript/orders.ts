/*
 * Writes a month's orders to a CSV file whose amounts sum to the orders' totals: npx tsx orders.ts 1996-07
 * There is a row for each line, and one for an order's VAT and for its shipping.
 */
import { rename, writeFile } from 'node:fs/promises';
import { formatAmount, type Schemas, Scopegate } from '@scopegate/client';

/** All but cancelled orders. */
const STATUS = 'placed confirmed in_production dispatched delivered completed'.split(
  ' ',
) as Schemas['Order']['status'][];
const HEADER = 'number,placed_at,status,customer,currency,type,sku,description,qty,unit_price,discount_pct,amount';
const TOTALS = `query Totals($from: DateTime, $to: DateTime, $status: [OrderStatus!]) {
  order_totals(from: $from, to: $to, status: $status) { data { currency count total_minor } }
}`;

const api = new Scopegate();
const month = process.argv[2] ?? '';
if (!/^\d{4}-(0[1-9]|1[0-2])$/.test(month)) throw new Error('name a month, such as 1996-07');
const from = new Date(`${month}-01T00:00:00Z`).toISOString();
const to = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)))).toISOString();

/** A decimal without the errors of floating-point numbers: its digits, and the power of ten to divide them by. */
function exact(value: number): [digits: bigint, divisor: bigint] {
  const [number = '', exponent = '0'] = String(value).split('e');
  const [whole = '', fraction = ''] = number.split('.');
  return [BigInt(whole + fraction), 10n ** BigInt(fraction.length - Number(exponent))];
}

/** A quotient rounded half up, of negative amounts too. */
function halfUp(dividend: bigint, divisor: bigint): bigint {
  const [twice, by] = [2n * dividend + divisor, 2n * divisor];
  return twice / by - (twice % by < 0n ? 1n : 0n);
}

/** What a line costs after its discount; both are rounded. */
function netOf(line: Schemas['OrderLine']): number {
  const [[qty, ofQty], [percent, ofPercent]] = [exact(line.qty), exact(line.discount_pct)];
  const gross = qty * BigInt(line.unit_price_minor);
  return Number(halfUp(gross, ofQty) - halfUp(gross * percent, 100n * ofQty * ofPercent));
}

/** 1250 as 12.50, 1250 or 1.250, by the currency. */
function decimal(minor: number, currency: string): string {
  return formatAmount(minor, currency).replaceAll(/[^\d.-]/g, '');
}

function csv(...values: unknown[]): string {
  const texts = values.map((value) => String(value ?? ''));
  return texts.map((text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)).join(',');
}

interface Sum {
  readonly currency: string;
  readonly count: number;
  readonly total_minor: number;
}

const rows = [HEADER];
const sums = new Map<string, Sum>();
const query = { placed_since: from, placed_before: to, status: STATUS, sort: 'placed_at' } as const;
for await (const order of api.list('/orders', { query: { ...query, include: ['lines', 'customer'] } })) {
  const { number, currency, lines = [], vat_minor: vat, shipping_minor: shipping } = order;
  const start = [number, order.placed_at, order.status, order.customer?.name, currency];
  const nets = lines.map(netOf);
  if (nets.reduce((sum, net) => sum + net, 0) !== order.subtotal_minor - order.discount_minor)
    throw new Error(`${number}: its lines do not sum to its subtotal`);
  for (const [at, line] of lines.entries()) {
    const price = decimal(line.unit_price_minor, currency);
    const amount = decimal(nets[at] ?? 0, currency);
    rows.push(csv(...start, 'line', line.sku, line.description, line.qty, price, line.discount_pct, amount));
  }
  for (const [type, minor] of Object.entries({ vat, shipping }))
    if (minor !== 0) rows.push(csv(...start, type, '', '', '', '', '', decimal(minor, currency)));
  const sum = sums.get(currency) ?? { currency, count: 0, total_minor: 0 };
  sums.set(currency, { currency, count: sum.count + 1, total_minor: sum.total_minor + order.total_minor });
}

const { order_totals: totals } = await api.graphql<{ order_totals: { data: Sum[] } }>(TOTALS, {
  from,
  to,
  status: STATUS,
});
const told = (all: Iterable<Sum>): string =>
  [...all]
    .map(({ currency, count, total_minor }) => `${count} orders, ${currency} ${decimal(total_minor, currency)}`)
    .sort()
    .join('\n');
if (told(sums.values()) !== told(totals.data))
  throw new Error('an order changed meanwhile, so nothing was written; run it again');
// complete or not there at all, whenever it is stopped
await writeFile(`orders-${month}.csv.part`, `${rows.join('\n')}\n`);
await rename(`orders-${month}.csv.part`, `orders-${month}.csv`);
console.log(told(sums.values()));
