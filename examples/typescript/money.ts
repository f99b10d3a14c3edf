/** Digits of the minor unit by ISO 4217, where they are not two. Not those of `Intl`, which has none for HUF or COP, since it follows usage. */
const DIGITS: Readonly<Record<string, number>> = Object.fromEntries([
  ...'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'.split(' ').map((code) => [code, 0] as const),
  ...'BHD IQD JOD KWD LYD OMR TND'.split(' ').map((code) => [code, 3] as const),
  ...'CLF UYW'.split(' ').map((code) => [code, 4] as const),
]);

/** Formats an amount in minor units: 1250 is €12.50, ¥1,250 or KWD 1.250. */
export function amount(minor: number | bigint, currency: string): string {
  const digits = DIGITS[currency] ?? 2;
  const format = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const;
  // as text, which Intl takes exactly; a quotient of large numbers would be rounded
  return new Intl.NumberFormat('en', format).format(`${minor}e-${digits}` as Intl.StringNumericLiteral);
}
