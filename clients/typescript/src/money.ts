/** Currencies by digits of the minor unit (ISO 4217), if not two. `Intl` follows usage instead: it shows none for HUF or COP. */
const CODES_BY_DIGITS: Readonly<Record<number, string>> = {
  0: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF',
  3: 'BHD IQD JOD KWD LYD OMR TND',
  4: 'CLF UYW',
};

/** How many digits the minor unit of a currency has: 2 of EUR, 0 of JPY. */
export function digitsOf(currency: string): number {
  return [0, 3, 4].find((count) => CODES_BY_DIGITS[count]?.split(' ').includes(currency)) ?? 2;
}

/** Formats an amount in minor units: 1250 is €12.50, ¥1,250 or KWD 1.250. `locale` is a BCP 47 tag, such as `de`. */
export function formatAmount(minor: number | bigint, currency: string, locale = 'en'): string {
  const digits = digitsOf(currency);
  const format = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  // as text, which Intl formats exactly; dividing a large number would round it
  return new Intl.NumberFormat(locale, format).format(
    `${String(minor)}e-${String(digits)}` as Intl.StringNumericLiteral,
  );
}
