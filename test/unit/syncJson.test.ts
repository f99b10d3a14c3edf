import { jsonOf } from '../../clients/sync/src/json';

test('what JSON can hold is as JSON.stringify has it', () => {
  const one = { a: [1, 'x', null, undefined, true], at: new Date(0), left: undefined, id: { toJSON: () => 'text' } };
  const mapped = { ...one, twice: [one, one] };
  expect(jsonOf(mapped)).toBe(JSON.stringify(mapped));
});

test('what JSON would make null is a fault with its pointer, within a bound', () => {
  const lines = [{ price_minor: NaN }, { price_minor: 1 }, { price_minor: -Infinity }];
  const mapped = { lines, at: new Date('never'), metadata: { 'a/b~c': 7n }, own: { toJSON: () => ({ n: NaN }) } };
  const of = (pointer: string, expected: string) => ({
    pointer,
    code: 'map',
    detail: `${pointer} must be ${expected}`,
  });
  const errors = [
    of('/lines/0/price_minor', 'a finite number'),
    of('/lines/2/price_minor', 'a finite number'),
    of('/at', 'a valid date'),
    of('/metadata/a~1b~0c', 'a number, and is a BigInt'),
    of('/own/n', 'a finite number'),
  ];
  expect(() => jsonOf(mapped)).toThrow(expect.objectContaining({ name: 'UnusableError', errors }));
  const many = Array<number>(1000).fill(NaN);
  expect(() => jsonOf(many)).toThrow(
    expect.objectContaining({ errors: many.slice(0, 20).map((_, at) => of(`/${String(at)}`, 'a finite number')) }),
  );
});

test('what is too deep, too large or in itself is refused', () => {
  const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });
  expect(jsonOf(deep(100))).toBe(JSON.stringify(deep(100)));
  expect(() => jsonOf(deep(101))).toThrow('is nested more than 100 deep');
  const itself: Record<string, unknown> = {};
  itself.a = itself;
  expect(() => jsonOf(itself)).toThrow(TypeError);
  const read = { last: 0 };
  const large = Array.from({ length: 100 }, (_, at) => ({
    toJSON: () => {
      read.last = at;
      return 'x'.repeat(2 ** 20);
    },
  }));
  expect(() => jsonOf(large)).toThrow('more than 5 MiB of JSON');
  expect(read.last).toBeLessThan(6);
});
