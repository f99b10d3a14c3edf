import { totalOf } from '../../src/stored/money';

describe('a total', () => {
  test.each([
    [{ subtotal_minor: 44_000, discount_minor: 0, vat_minor: 0 }, 44_000],
    [{ subtotal_minor: 10_000, discount_minor: 1_500, vat_minor: 1_700 }, 10_200],
    [{ subtotal_minor: 44_000, discount_minor: 0, vat_minor: 0, shipping_minor: 3_238 }, 47_238],
    [{ subtotal_minor: 100, discount_minor: 250, vat_minor: 0, shipping_minor: 50 }, -100],
    [{ subtotal_minor: 0, discount_minor: 0, vat_minor: 0, shipping_minor: 0 }, 0],
  ])('of %j is subtotal - discount + vat + shipping: %i', (amounts, total) => {
    expect(totalOf(amounts)).toBe(total);
  });

  test('is exact up to the largest safe integer', () => {
    const most = { subtotal_minor: Number.MAX_SAFE_INTEGER - 2, discount_minor: 1, vat_minor: 2, shipping_minor: 1 };
    expect(totalOf(most)).toBe(Number.MAX_SAFE_INTEGER);
  });
});
