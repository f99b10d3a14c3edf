/** Money is an integer in minor units of its currency, exact up to 2^53-1 (contract, section 1). */

interface Totals {
  readonly subtotal_minor: number;
  readonly discount_minor: number;
  readonly vat_minor: number;
  readonly shipping_minor?: number;
}

/** total = subtotal - discount + vat (+ shipping), in minor units. */
export function totalOf(amounts: Totals): number {
  return amounts.subtotal_minor - amounts.discount_minor + amounts.vat_minor + (amounts.shipping_minor ?? 0);
}
