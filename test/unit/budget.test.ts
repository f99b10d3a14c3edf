import { setImmediate as turn } from 'node:timers/promises';
import { type Budget, createBudget, createYield, pausesOf } from '../../src/async/yield';

/* What is decoded and put into answers in one turn of the event loop. */

const KIB = 1024;
const PIECE = 256 * KIB;

let turns: number;
let isCounting: boolean;
beforeEach(() => {
  [turns, isCounting] = [0, true];
  const count = (): void => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  count();
});
afterEach(() => {
  isCounting = false;
});

const newBudget = (): Budget => createBudget(createYield().yieldTurn);

/** Asks for several pieces of work at once. Resolves with the sum of each turn in which some was let through. */
async function sums(
  budget: Budget,
  sizes: readonly number[],
  member: 'bytes' | 'objects' = 'bytes',
): Promise<number[]> {
  const of = new Map<number, number>();
  const ask = async (size: number): Promise<void> => {
    const wait = budget(member === 'bytes' ? { bytes: size } : { objects: size });
    if (wait) await wait;
    of.set(turns, (of.get(turns) ?? 0) + size);
  };
  await Promise.all(sizes.map(ask));
  return [...of.values()];
}

test.each<['bytes' | 'objects', number]>([
  ['bytes', PIECE],
  ['objects', 2048],
])('no turn has more %s than a piece', async (member, most) => {
  const each = most / 8;
  const found = await sums(newBudget(), Array<number>(100).fill(each), member);
  expect(Math.max(...found)).toBeLessThanOrEqual(most);
  expect(found.reduce((sum, one) => sum + one)).toBe(100 * each);
});

test('what is larger than a piece has a turn for itself', async () => {
  const found = await sums(newBudget(), [PIECE * 3, KIB, PIECE * 2, KIB]);
  expect(found.filter((sum) => sum > PIECE)).toEqual([PIECE * 3, PIECE * 2]);
});

test('small work does not wait', () => {
  const budget = newBudget();
  for (let at = 0; at < 20; at += 1) expect(budget({ bytes: KIB })).toBeUndefined();
});

test('small work does not queue behind large work', async () => {
  const budget = newBudget();
  let left = 100;
  for (let at = 0; at < 100; at += 1) void budget({ bytes: PIECE / 2 })?.then(() => (left -= 1));
  for (let at = 0; at < 5; at += 1) await turn();
  await budget({ bytes: KIB });
  expect(left).toBeGreaterThan(80);
});

test('each piece of several organisations has a turn of its own', async () => {
  const { yieldTurn } = createYield();
  const begun: number[] = [];
  const ask = async (budget: Budget): Promise<void> => {
    for (let at = 0; at < 5; at += 1) {
      await budget({ bytes: PIECE });
      if (at > 0) begun.push(turns);
    }
  };
  await Promise.all([ask(createBudget(yieldTurn)), ask(createBudget(yieldTurn))]);
  expect(new Set(begun).size).toBe(begun.length);
});

test('work for no organisation waits for all organisations', async () => {
  // the longest wait never ends, however slow the machine is
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const yielding = createYield();
  const active = new Set(['one']);
  let asked = 0;
  yielding.yieldWhile((organisationId) => {
    asked += 1;
    if (asked === 3) active.clear();
    return [...active].some((id) => id !== organisationId);
  });
  await pausesOf(yielding).yieldToOthers();
  clock.mockRestore();
  expect(asked).toBe(3);
});
