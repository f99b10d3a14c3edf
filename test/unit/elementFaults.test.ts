import { judge } from '../../src/resources/elementFaults';

const LIST = { list: 'products', key: 'sku' };
const fault = (at: number) => ({ pointer: `/m${String(at)}`, code: 'unknown', detail: 'is not known here' });

test('of the faults of an element no more are kept than a call lists, and all are counted', () => {
  const faults = Array.from({ length: 5000 }, (_none, at) => fault(at));
  const judged = judge(Array(1000).fill({ sku: 1 }), LIST, () => ({ faults, more: 7 }));
  expect(judged.map(({ faults: kept, count }) => [kept.length, count])).toEqual(Array(1000).fill([100, 5007]));
});

test('a text is looked for in no more levels than an element has', () => {
  let depth = 0;
  const nested: unknown = {
    get sku() {
      depth += 1;
      return depth < 1000 ? nested : 'x';
    },
  };
  judge([nested], LIST, () => ({ faults: [], more: 0 }));
  expect(depth).toBeLessThan(20);
});
