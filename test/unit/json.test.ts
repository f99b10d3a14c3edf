import { BODY_BOUNDS, checkedJson } from '../../src/http/json';

const structureFault = (text: string): unknown => checkedJson(text).fault;

describe('a duplicate member is found at any depth', () => {
  test.each([
    ['{"a":1,"a":2}', '/a'],
    ['{"a":1,"b":{"a":1},"a":2}', '/a'],
    ['{"a":{"b":1},"c":{"b":1,"d":[{}],"b":1}}', '/c/b'],
    ['[[{}],[{"x":0},{"x":0,"y":{"x":0},"x":0}]]', '/1/1/x'],
    ['{ "a" : "{\\"b\\":1,\\"b\\":2}" , "a" : 1 }', '/a'],
    ['{"\\u0061":1,"a":2}', '/a'],
    ['{"a\\\\":1,"a\\\\":2}', '/a\\'],
    ['{"":1,"":2}', '/'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
    ['{"a/b~":1,"a/b~":2}', '/a~1b~0'],
    ['{"dry_run":true,"products":[{"sku":"a,\\"sku\\":"}],"dry_run":false}', '/dry_run'],
  ])('%s', (text, pointer) => {
    JSON.parse(text);
    expect(structureFault(text)).toMatchObject({ code: 'duplicate', pointer });
  });

  test.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":1}]',
    '{"a":[{"b":1},{"b":1}],"b":{"a":"a"}}',
    '{"a":"b","b":"a","c":":","d":"\\""}',
    '{"a":[1,2],"b":["a","a"],"A":1}',
    '{"a":{},"b":[],"c":{"a":{}}}',
    '"a"',
    '1',
    '',
  ])('and not in %s', (text) => {
    expect(structureFault(text)).toBeUndefined();
  });
});

describe('a text more complex than any valid body is rejected before it is parsed', () => {
  const { depth, containers, names, wideMembers, orderMembers } = BODY_BOUNDS;
  const list = (length: number, part: (at: number) => string): string =>
    `[${Array.from({ length }, (_, at) => part(at)).join()}]`;
  const wide = (members: number): string =>
    `{${Array.from({ length: members }, (_, at) => `"${String(at)}":0`).join()}}`;

  const object = (members: readonly string[]): string => `{${members.map((name) => `"${name}":0`).join()}}`;
  const tenNames = (at: number): string =>
    object(Array.from({ length: 10 }, (_, digit) => `${String(at)}-${String(digit)}`));
  const pair = (at: number): string => object([`a${String(at % 100)}`, `b${String(Math.floor(at / 100))}`]);

  test.each([
    ['levels', '['.repeat(depth), '['.repeat(depth + 1), 'depth'],
    ['levels of objects', '{"a":'.repeat(depth), '{"a":'.repeat(depth + 1), 'depth'],
    ['lists and objects', list(containers - 1, (at) => (at % 2 ? '{}' : '[]')), list(containers, () => '{}'), 'size'],
    ['names', list(names / 10, tenNames), list(names / 10 + 1, tenNames), 'size'],
    // 100 first members, and a second one for each pair
    ['orders of members', list(orderMembers - 100, pair), list(orderMembers - 99, pair), 'size'],
    [
      'members of wide objects',
      list(wideMembers / 100, () => wide(200)),
      list(wideMembers / 100 + 1, () => wide(200)),
      'size',
    ],
  ])('by its %s', (_title, most, tooMany, code) => {
    expect(structureFault(most)).toBeUndefined();
    expect(structureFault(tooMany)).toMatchObject({ code });
  });

  test('where orders that begin alike count from where they differ, so that a long one costs what it makes JSON.parse do', () => {
    const members = Array.from({ length: 100 }, (_, at) => `a${String(at)}`);
    const rotated = (at: number): string => object([...members.slice(at), ...members.slice(0, at)]);
    // 100 orders of 100 members, twice
    expect(structureFault(list(200, (at) => rotated(at % 100)))).toBeUndefined();
    const others = members.map((name) => `b${name}`);
    const more = (at: number): string => object([...others.slice(at), ...others.slice(0, at)]);
    const [atMost, tooMany] = [list(200, (at) => (at < 100 ? rotated(at) : more(at - 100))), object(['c'])];
    expect(structureFault(atMost)).toBeUndefined();
    expect(structureFault(`[${atMost},${tooMany}]`)).toMatchObject({ code: 'size' });
  });

  test('but the same members in the same order count once', () => {
    expect(structureFault(list(50_000, () => '{"a":0,"b":{"c":[]}}'))).toBeUndefined();
  });

  test('and not read any further', () => {
    const text = '['.repeat(1000);
    const read: number[] = [];
    const watched = { length: text.length, charCodeAt: (at: number) => (read.push(at), text.charCodeAt(at)) };
    structureFault(watched as unknown as string);
    expect(new Set(read).size).toBe(BODY_BOUNDS.depth + 1);
  });
});

test.each(['{"a', '{"a\\', '{"a":"', ']]]}}', '{,,}', ':::', '{"\\u00zz":1}', '{"a":1}{"a":1}'])(
  'malformed JSON is left to the parser: %s',
  (text) => {
    expect(structureFault(text)).toBeUndefined();
  },
);

describe('a number that JSON.parse would make whole although it has a fraction', () => {
  const parsed = (text: string): unknown => JSON.parse((checkedJson(text) as { readonly text: string }).text);

  test.each([
    ['900719925474099.96', 900719925474099.875],
    ['-900719925474099.96', -900719925474099.875],
    ['0.99999999999999999999', 1 - Number.EPSILON / 2],
    ['1.00000000000000000001', 1 + Number.EPSILON],
    ['1.000000000000000000000000001e0', 1 + Number.EPSILON],
    ['100000000000000000001e-20', 1 + Number.EPSILON],
    ['1234567.00000000000000001E+2', 123456700.00000001],
    ['1e-400', Number.MIN_VALUE],
    ['-1e-400', -Number.MIN_VALUE],
    ['1e-99999999999999999999', Number.MIN_VALUE],
    [`0.${'0'.repeat(400)}1`, Number.MIN_VALUE],
    [`1.${'0'.repeat(50)}1`, 1 + Number.EPSILON],
    ['4503599627370494.99', 4503599627370494.5],
    ['4503599627370496.5', [['4503599627370496.5']]],
    ['-12345678901234567.5', [['-12345678901234567.5']]],
    ['123456789012345678905e-1', [['123456789012345678905e-1']]],
  ])('is none when it is parsed: %s', (number, expected) => {
    expect(Number.isInteger(Number(number))).toBe(true);
    expect(parsed(number)).toEqual(expected);
    const text = `{"a": [${number}, true, "${number}", ${number}],"e":{"b.e":${number}},"c":false}`;
    expect(parsed(text)).toEqual({ a: [expected, true, number, expected], e: { 'b.e': expected }, c: false });
  });

  test.each([
    ...['0', '-0', '-0.0', '1', '1.0', '1.50', '1e2', '1.5e1', '15e-1', '0.1', '1E5', '0e-400', '0.0e99', '-12.25'],
    ...['9007199254740993', '900719925474099.5', '1e400', '1e22', '5e-324', '2.2250738585072014e-308'],
    ...['10000000000000000000e-19', '1.00000000000000000000', `1${'0'.repeat(30)}.0`, '9'.repeat(400)],
    ...[
      '100.0000000000000000000000000e-2',
      '4503599627370497',
      '0.30000000000000004',
      '0.1000000000000000055511151231257827',
    ],
    ...['true', 'false', 'null', '"1.00000000000000000001"', '"\\"', '{"1.00000000000000000001":1}'],
  ])('and any other text is left as it is: %s', (text) => {
    expect(checkedJson(text)).toEqual({ text });
    expect(checkedJson(`[${text}]`)).toEqual({ text: `[${text}]` });
  });

  test.each([
    '1.',
    '.5',
    '1.2.3',
    '1e',
    '1e+',
    '--1.00000000000000000001',
    '1.0000000000000000000-1',
    '1.00000000000000000001e',
    'e1.5',
    '[1.00000000000000000001',
    '+99999999999999999999999e-23',
    '04.00000000000000001',
    '+1.00000000000000000001',
    '1.e-400',
    '-.00000000000000000001',
  ])('malformed, stays malformed: %s', (text) => {
    expect(() => parsed(text)).toThrow(SyntaxError);
  });

  test('is found among many others', () => {
    const numbers = Array.from({ length: 100_000 }, (_, at) =>
      at === 70_000 ? '1.00000000000000000001' : `${String(at)}.5`,
    );
    const read = parsed(`[${numbers.join()}]`) as number[];
    expect(read.filter((_, at) => read[at] !== at + 0.5)).toEqual([1 + Number.EPSILON]);
  });

  test('may be there 20,000 times', () => {
    const list = (length: number): string => `[${Array.from({ length }, () => '1e-400').join()}]`;
    expect(structureFault(list(20_000))).toBeUndefined();
    expect(structureFault(list(20_001))).toMatchObject({ code: 'size' });
  });

  test('as long as a body takes time in proportion', () => {
    const long = `1.${'0'.repeat(5_000_000)}1`;
    expect(parsed(`[${long}, 0.${'0'.repeat(5_000_000)}]`)).toEqual([1 + Number.EPSILON, 0]);
  });
});
