import { type Pace, paceOf } from '../../src/database/courtesy';
import { validateElements, MOST_VALUES } from '../../src/stored/elementFaults';
import { normalisedIn } from '../support/normalised';

const LIST = { list: 'products', key: 'sku' };
const NEVER: Pace = () => undefined;
let pauses = 0;
const PAUSE = (): Promise<void> => {
  pauses += 1;
  return Promise.resolve();
};
const fault = (at: number) => ({ pointer: `/m${String(at)}`, code: 'unknown', detail: 'is not a known field' });

test('keeps at most as many errors per element as a call lists, and counts all', async () => {
  const faults = Array.from({ length: 5000 }, (_none, at) => fault(at));
  const validated = await validateElements(
    Array(1000).fill({ sku: 1 }),
    LIST,
    () => ({ faults, more: 7, isCut: false }),
    NEVER,
  );
  expect(validated.map(({ faults: kept, count }) => [kept.length, count])).toEqual(Array(1000).fill([100, 5007]));
});

test('keeps all faults of an element only while the response has room for them', async () => {
  const most: (number | undefined)[] = [];
  const check: Parameters<typeof validateElements>[2] = (_element, room) => {
    most.push(room?.kept);
    return { faults: [fault(0)], more: 3, isCut: false };
  };
  const validated = await validateElements(Array(30).fill({}), LIST, check, NEVER);
  // 25 elements list four faults each
  expect(most).toEqual([...Array(25).fill(100), ...Array(5).fill(1)]);
  expect(validated.map(({ count }) => count)).toEqual(Array(30).fill(4));
});

test('counts the broken texts of an element only until there are enough', async () => {
  const texts = Array.from({ length: 900 }, () => '\u0000');
  const sound: Parameters<typeof validateElements>[2] = () => ({ faults: [], more: 0, isCut: false });
  const validated = await validateElements(Array(30).fill({ texts }), LIST, sound, NEVER);
  // ten elements fill the call
  expect(validated.map(({ count, isCut }) => [count, isCut])).toEqual([
    ...Array(10).fill([200, true]),
    ...Array(20).fill([21, true]),
  ]);
});

test('searches for lone surrogates only as deep as valid elements are nested', async () => {
  let depth = 0;
  const nested: unknown = {
    get sku() {
      depth += 1;
      return depth < 1000 ? nested : 'x';
    },
  };
  await validateElements([nested], LIST, () => ({ faults: [], more: 0, isCut: false }), NEVER);
  expect(depth).toBeLessThan(20);
});

test('a key longer than any valid one is checked without being normalised', async () => {
  const sku = `a${'\u0301'.repeat(30_000)}${'\u0327'.repeat(30_000)}`;
  const checked: unknown[] = [];
  const check: Parameters<typeof validateElements>[2] = (element) => {
    checked.push(element);
    return { faults: [fault(0)], more: 0, isCut: false };
  };
  expect(await normalisedIn(() => validateElements([{ sku }], LIST, check, NEVER))).toEqual([]);
  expect(checked).toEqual([{ sku }]);
});

test('of an element with a fault, no more values are looked at than a valid one has', async () => {
  let looked = 0;
  const list = new Proxy(Array(100_000).fill(-0), {
    get: (target, name) => {
      if (/^\d+$/.test(String(name))) looked += 1;
      return Reflect.get(target, name) as unknown;
    },
  });
  const wrong: Parameters<typeof validateElements>[2] = () => ({ faults: [fault(0)], more: 0, isCut: false });
  await validateElements([{ sku: '\u0000', name: list }], LIST, wrong, NEVER);
  expect(looked).toBeLessThanOrEqual(2 * MOST_VALUES);
});

test('gives way after each slice of time, but not during a small call', async () => {
  let now = 0;
  const clock = jest.spyOn(performance, 'now').mockImplementation(() => now);
  const took = (ms: number): Parameters<typeof validateElements>[2] => {
    return () => {
      now += ms;
      return { faults: [], more: 0, isCut: false };
    };
  };
  await validateElements(Array(90).fill({}), LIST, took(0.1), paceOf(PAUSE));
  expect(pauses).toBe(0);
  // ten times in a second, however few the elements
  await validateElements(Array(100).fill({}), LIST, took(5), paceOf(PAUSE));
  expect(pauses).toBe(49);
  clock.mockRestore();
});
