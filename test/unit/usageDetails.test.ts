import { codesOf, type FinishedRequest, operationsOf, pathsOf } from '../../src/organisations/usageDetails';

const OK: FinishedRequest = { outcome: 'ok', operation: 'quotes', ms: 3 };

/** A row of usage as the database stores it. */
function rowOf(requests: readonly FinishedRequest[]) {
  const row: { operations: Record<string, Record<string, number>>; codes: Record<string, number> } = {
    operations: {},
    codes: {},
  };
  for (const path of requests.flatMap(pathsOf)) {
    const [first, name, count] = path.split('.');
    const place = first === 'codes' ? row.codes : (row.operations[name!] ??= {});
    const member = first === 'codes' ? name! : count!;
    place[member] = (place[member] ?? 0) + 1;
  }
  return row;
}

test('usage by operation is summed over rows, with most requests first', () => {
  const error = { outcome: 'error', operation: 'quote', code: 'not_found', ms: 2 } as const;
  const limited = { outcome: 'rate_limited', operation: 'quote', code: 'rate_limited', ms: 0.1 } as const;
  const rows = [rowOf([OK, error]), {}, rowOf([error, limited])];
  expect(operationsOf(rows)).toMatchObject([
    { operation: 'quote', requests: 3, errors: 2, rate_limited: 1 },
    { operation: 'quotes', requests: 1, errors: 0, rate_limited: 0 },
  ]);
  expect(codesOf(rows)).toEqual([
    { code: 'not_found', requests: 2 },
    { code: 'rate_limited', requests: 1 },
  ]);
});

test.each([
  ['all in one bucket', Array<number>(100).fill(30), 37.5, 48.8],
  ['few slow ones', [...Array<number>(96).fill(4), ...Array<number>(4).fill(400)], 2.6, 4.9],
  ['a tenth slow', [...Array<number>(90).fill(4), ...Array<number>(10).fill(400)], 2.8, 375],
  ['slower than the last bound', [60_000, 70_000], 30_000, 30_000],
])('percentiles: %s', (_, times, p50, p95) => {
  const row = rowOf(times.map((ms) => ({ ...OK, ms })));
  expect(operationsOf([row])).toMatchObject([{ p50_ms: p50, p95_ms: p95 }]);
});

test('an operation that was only rate limited has no durations', () => {
  const row = rowOf([{ outcome: 'rate_limited', operation: 'quotes', ms: 0.1 }]);
  expect(operationsOf([row])).toMatchObject([{ p50_ms: null, p95_ms: null }]);
});
