import { isCurrency, wasCurrency } from '../../src/schema/currency';

test.each(['USD', 'EUR', 'GBP', 'JPY', 'XCG', 'ZWG', 'VED', 'XAD', 'CHF', 'CLF'])('%s is in use', (code) => {
  expect([isCurrency(code), wasCurrency(code)]).toEqual([true, true]);
});

test.each(['DEM', 'FRF', 'HRK', 'BGN', 'ANG', 'ZWL', 'XAU', 'XDR', 'XTS', 'XXX'])(
  '%s is historic, or has no minor unit',
  (code) => {
    expect([isCurrency(code), wasCurrency(code)]).toEqual([false, true]);
  },
);

test.each(['usd', 'US', 'USDT', ' USD', 'USD\n', 'XYZ', 'ZZZ', 'AAA', '', '$', '840', 'УСД'])(
  '%j is not a currency',
  (code) => {
    expect([isCurrency(code), wasCurrency(code)]).toEqual([false, false]);
  },
);
