import { getOperationAST, parse } from 'graphql';
import { argumentSizeError } from '../../src/graphql/argumentSize';

const many = (count: number, value: unknown = {}): unknown[] => Array.from({ length: count }, () => value);
const text = (length: number): string => 'a'.repeat(length);
const MOST = 1024 * 1024;

/** What is said of the arguments of a document; undefined if they are not too large. */
function said(query: string, values: Record<string, unknown>): string | undefined {
  const document = parse(query);
  return argumentSizeError(document, getOperationAST(document)!, values)?.detail;
}

const ELEMENTS = expect.stringContaining('20,000 elements') as string;
const CHARACTERS = expect.stringContaining('1,048,576 characters') as string;

test.each<[string, string, Record<string, unknown>, string | undefined]>([
  ['elements', '{ a }', { p: many(20_001) }, ELEMENTS],
  ['values', '{ a }', { s: many(20_001, 'a') }, ELEMENTS],
  ['elements of several variables', '{ a }', { s: many(10_001, 'a'), t: many(10_000, 'a') }, ELEMENTS],
  ['elements of lists in elements', '{ a }', { c: many(1000, { contacts: many(19) }) }, ELEMENTS],
  ['objects in elements', '{ a }', { c: many(10_001, { address: {} }) }, ELEMENTS],
  ['lists in lists', '{ a }', { c: many(2, many(10_000, [])) }, ELEMENTS],
  ['elements named twice', '{ a(b: $c) d: a(b: $c) }', { c: many(10_001, 1) }, ELEMENTS],
  ['customers with contacts, nearly too many', '{ a(b: $c) }', { c: many(1000, { contacts: many(18) }) }, undefined],
  ['values, as many as there may be', '{ a(b: $s) }', { s: many(20_000, 'a') }, undefined],
  ['null', '{ a(b: $p) }', { p: null }, undefined],
  ['no variables', '{ a }', {}, undefined],
  ['a text, as long as it may be', '{ a(b: $t) }', { t: text(MOST) }, undefined],
  ['a text named twice', '{ a(b: $t) c: a(b: $t) }', { t: text(MOST / 2 + 1) }, CHARACTERS],
  ['a text named twice in a list', '{ a(b: [$t, $t]) }', { t: text(MOST / 2 + 1) }, CHARACTERS],
  ['a text named twice in an object', '{ a(b: { c: $t, d: $t }) }', { t: text(MOST / 2 + 1) }, CHARACTERS],
  ['a text in a list that is named twice', '{ a(b: $t) c: a(b: $t) }', { t: [text(MOST / 2 + 1)] }, CHARACTERS],
  [
    'a text named in a fragment that is spread twice',
    '{ a { ...F } b: a { ... { ...G } } } fragment G on A { ...F } fragment F on A { c(d: $t) }',
    { t: text(MOST / 2 + 1) },
    CHARACTERS,
  ],
  [
    'a default that is named often',
    `query ($t: String = "${text(1000)}") { ${'a(b: $t) '.repeat(1049)} }`,
    {},
    CHARACTERS,
  ],
  [
    'a default that is not used',
    `query ($t: String = "${text(1000)}") { ${'a(b: $t) '.repeat(1049)} }`,
    { t: '' },
    undefined,
  ],
  [
    'a text in a fragment that is spread often',
    `{ ${'a { ...F } '.repeat(1049)} } fragment F on A { c(d: "${text(1000)}") }`,
    {},
    CHARACTERS,
  ],
  [
    'a list in a fragment that is spread often',
    `{ ${'a { ...F } '.repeat(210)} } fragment F on A { c(d: [${'1 '.repeat(100)}]) }`,
    {},
    ELEMENTS,
  ],
])('%s: arguments are refused for their size before they are coerced, or not', (_title, query, values, expected) => {
  expect(said(query, values)).toEqual(expected);
});
