import { bodyMemoryLimits, connectionLimits } from '../../src/limits';
import { createShares } from '../../src/async/shares';

/* What callers and organisations may hold at once, whatever it is. */

const of = (organisation: string, caller: string) => ({ organisation, caller });

test('a caller, an organisation and all together have their limits, whoever else holds something', () => {
  const shares = createShares({ caller: 2, organisation: 3, all: 5 });
  const take = (organisation: string, caller: string) => shares.take(of(organisation, caller));
  const [first] = [take('a', '1'), take('a', '1')];
  expect([take('a', '1'), shares.exceeded(of('a', '1'))]).toEqual([undefined, 'caller']);
  expect(take('a', '2')).toBeDefined();
  expect([take('a', '2'), shares.exceeded(of('a', '2'))]).toEqual([undefined, 'organisation']);
  expect(shares.full()).toEqual(['a']);
  expect([take('b', '3'), take('b', '4')]).toEqual([expect.any(Function), expect.any(Function)]);
  expect([take('c', '5'), shares.exceeded(of('c', '5'))]).toEqual([undefined, 'all']);
  first!();
  // only the first call gives anything back
  first!();
  expect([shares.held('all'), shares.held('organisation', 'a'), shares.held('caller', '1')]).toEqual([4, 2, 1]);
  expect(shares.full()).toEqual([]);
  expect(take('c', '5')).toBeDefined();
});

test('a limit of which the holder has no name does not apply to it, but that of all does', () => {
  const shares = createShares({ organisation: 1, all: 2 });
  expect([shares.take({}), shares.take({}), shares.take({})]).toEqual([
    expect.any(Function),
    expect.any(Function),
    undefined,
  ]);
  expect(shares.held('organisation')).toBe(0);
});

test('what one holds alone is never over a limit, and anything beside it is', () => {
  const shares = createShares({ all: 10 });
  expect(shares.exceeded({}, 50)).toBeUndefined();
  shares.add({}, 50);
  expect(shares.exceeded({}, 5, 50)).toBeUndefined();
  expect(shares.exceeded({}, 1)).toBe('all');
  shares.add({}, -50);
  expect(shares.held('all')).toBe(0);
});

test('of memory a caller has a quarter and an organisation half; of connections an address half, but at least 100', () => {
  expect(bodyMemoryLimits(64)).toEqual({ all: 64, caller: 16, organisation: 32 });
  expect(connectionLimits(1001, false)).toEqual({ all: 1001, caller: 501 });
  expect(connectionLimits(50, false)).toEqual({ all: 50, caller: 100 });
  expect(connectionLimits(1001, true)).toEqual({ all: 1001 });
});
