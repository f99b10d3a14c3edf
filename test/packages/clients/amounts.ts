import { calling, type Language } from './calling';

/** Amounts by ISO 4217, up to the largest. */
export const AMOUNTS: readonly [minor: number, currency: string, digits: string][] = [
  [1250, 'EUR', '12.50'],
  [1250, 'JPY', '1,250'],
  [1250, 'KWD', '1.250'],
  [1250, 'HUF', '12.50'],
  [-5, 'USD', '0.05'],
  [0, 'XAF', '0'],
  [Number.MAX_SAFE_INTEGER, 'CLF', '900,719,925,474.0991'],
  // a quotient of floating-point numbers ends in .90
  [Number.MAX_SAFE_INTEGER, 'USD', '90,071,992,547,409.91'],
];

export function expectAmounts(texts: readonly string[]): void {
  expect(texts.map((text) => text.replace(/^\D*/, ''))).toEqual(AMOUNTS.map(([, , digits]) => digits));
  expect(texts.filter((text) => text.includes('-'))).toHaveLength(1);
}

export function amounts(language: Language): void {
  test('amounts have the minor units of ISO 4217, exactly', async () => {
    const calls = AMOUNTS.map(([minor, currency]) => ({ do: 'format', minor, currency }));
    expectAmounts((await calling(language, {}, calls)).map(({ result }) => result as string));
  });
}
