/** Money is an integer in minor units of its currency, exact up to 2^53-1 (contract, section 1). */

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
