import { parse } from 'graphql';
import { gapsOf, SDL } from '../support/brokenSchema';

/* Adds fields with constraints that bound nothing, or that nothing meets. */

/** The gaps of the published schema with a write that takes an argument. */
const argument = (text: string): string =>
  gapsOf(parse(`${SDL}\nextend type Mutation { note(it: ${text}): Quote @access(scope: QUOTES_WRITE) }`));
/** The same with a member of a type. */
const member = (text: string): string => gapsOf(parse(`${SDL}\nextend type MeKey { it: ${text} }`));

describe('an argument', () => {
  test.each<[string, string, string]>([
    [
      'bounds in the wrong order',
      'Int @constraint(min: 5, max: 1)',
      'has @constraint(min: 5, max: 1), which nothing meets',
    ],
    [
      'lengths in the wrong order',
      'String @constraint(min_length: 5, max_length: 1)',
      'has @constraint(min_length: 5, max_length: 1), which nothing meets: change one of them',
    ],
    [
      'numbers of items in the wrong order',
      '[String!] @constraint(min_items: 5, max_items: 1)',
      'has @constraint(min_items: 5, max_items: 1), which nothing meets: change one of them',
    ],
    ['a negative length', 'String @constraint(min_length: -1)', 'has @constraint(min_length: -1): write 0 or more'],
    [
      'a maximum that its type does not have',
      'Int @constraint(max: 3000000000)',
      'has @constraint(max: 3000000000), more than any Int: remove it',
    ],
    [
      'a minimum that its type does not have',
      'Minor @constraint(min: -1e17)',
      'has @constraint(min: -100000000000000000), less than any Minor: remove it',
    ],
    ['a pattern of a number', 'Int @constraint(pattern: "x")', 'has @constraint(pattern:), which has no effect on Int'],
    [
      'a minimum of a text',
      'String @constraint(min: 1)',
      'has @constraint(min:), which has no effect on String: remove it',
    ],
    ['a length of a flag', 'Boolean @constraint(max_length: 1)', 'which has no effect on Boolean: remove it'],
    ['a length of an enum', 'QuoteStatus @constraint(max_length: 1)', 'which has no effect on QuoteStatus: remove it'],
    ['values of a number', 'Int @constraint(one_of: ["1"])', 'has @constraint(one_of:), which has no effect on Int'],
    [
      'a number of items of one',
      'String @constraint(max_items: 1)',
      'has @constraint(max_items:), which has no effect on String',
    ],
    ['a pattern of a list', '[String!] @constraint(pattern: "x")', 'which has no effect on [String!]: remove it'],
    ['a format of an id', 'ID @constraint(format: "email")', 'has @constraint(format:), which has no effect on ID'],
    [
      'a pattern that is none',
      'String @constraint(pattern: "[")',
      'has @constraint(pattern: "["), which is not a regular expression: correct it',
    ],
    [
      'a pattern that only lenient engines read',
      'String @constraint(pattern: "\\\\-")',
      'has @constraint(pattern: "\\-"), which is not a regular expression: correct it',
    ],
    [
      'a format that nothing checks',
      'String @constraint(format: "phone")',
      'has @constraint(format: "phone"), which nothing checks: use email, currency or known-currency',
    ],
    [
      'a format of numbers',
      'String @constraint(format: "int32")',
      'has @constraint(format: "int32"), which nothing checks',
    ],
    [
      'no values',
      'String @constraint(one_of: [])',
      'has @constraint(one_of: []), which nothing meets: name the values',
    ],
    [
      'a value that is too long',
      'String @constraint(one_of: ["a", "long"], max_length: 2)',
      'has @constraint(one_of:) with "long", which its max_length refuses: change one of them',
    ],
    [
      'a default beyond its bounds',
      'Int @constraint(min: 1, max: 5, default: 9)',
      'has @constraint(default: 9), which its max refuses: change one of them',
    ],
    [
      'a default of GraphQL beyond its bounds',
      'Int = 0 @constraint(min: 1, max: 5)',
      'has the default 0, which its min refuses: change one of them',
    ],
    [
      'a default that is not one of its values',
      'String = "c" @constraint(one_of: ["a", "b"])',
      'has the default "c", which its one_of refuses: change one of them',
    ],
    [
      'a default with an element that is too long',
      '[String!] = ["abc"] @constraint(max_length: 2)',
      'has the default ["abc"], which its max_length refuses: change one of them',
    ],
    [
      'a default that its pattern refuses',
      'String = "x" @constraint(pattern: "^[A-Z]$")',
      'has the default "x", which its pattern refuses: change one of them',
    ],
    [
      'two defaults',
      'Int = 3 @constraint(min: 1, max: 5, default: 2)',
      'has the default 3 and @constraint(default: 2): remove one of them',
    ],
    [
      'a default of what is always given',
      'Int! @constraint(default: 2)',
      'has @constraint(default:), but Int! is always given: remove one of them',
    ],
    [
      'a default of a text',
      'String @constraint(default: 2)',
      'has @constraint(default:), which has no effect on String',
    ],
    [
      'null refused where there is none',
      'String! @constraint(not_null: true)',
      'has @constraint(not_null:), but String! is always given: remove one of them',
    ],
    [
      'a requirement of elements',
      'String @constraint(required: true)',
      'has @constraint(required:), which is for fields of input types: write String!',
    ],
  ])('with %s is reported', (_title, text, gap) => {
    expect(argument(text)).toContain(`Mutation.note(it:) `);
    expect(argument(text)).toContain(gap);
  });

  test.each([
    'Int = 3 @constraint(min: 1, max: 5, default: 3)',
    'Int! = 3 @constraint(min: 1, max: 5)',
    'Float @constraint(min: -0.5, max: 1e300)',
    'Int @constraint(min: -2147483648, max: 2147483647)',
    '[QuoteStatus!]! @constraint(min_items: 0, max_items: 4)',
    'String @constraint(min_length: 1, max_length: 1, pattern: "^\\\\p{Lu}$", format: "uri")',
    '[String!] = ["ab"] @constraint(max_items: 2, max_length: 2, one_of: ["ab"])',
    'QuoteStatus @constraint(not_null: true)',
    'DateTime @constraint(max_length: 24)',
  ])('with %s is not a gap', (text) => {
    expect(argument(text)).toBe('invalid schema: Mutation.note has no resolver');
  });

  test('that nothing checks is reported', () => {
    expect(gapsOf(parse(`${SDL}\nextend type MeKey { it(n: Int @constraint(max: 1)): String }`))).toBe(
      'invalid schema: MeKey.it(n:) has @constraint, but only fields with @access have their arguments checked: add it to the field, or remove this',
    );
  });
});

test.each<[string, string]>([
  ['String @constraint(required: true)', 'has @constraint(required:), which is for input: remove it, or add !'],
  ['String @constraint(not_null: true)', 'has @constraint(not_null:), which is for input: remove it, or add !'],
  ['Int @constraint(default: 1)', 'has @constraint(default:), which is for input: remove it'],
  ['Plan @constraint(max_length: 1)', 'has @constraint(max_length:), which has no effect on Plan: remove it'],
])('a member %s is reported', (text, gap) => {
  expect(member(text)).toBe(`invalid schema: MeKey.it ${gap}`);
});

test('a field of an input type is reported', () => {
  expect(gapsOf(parse(`${SDL}\nextend input ContactInput { age: Int @constraint(min: 9, max: 1) }`))).toContain(
    'ContactInput.age has @constraint(min: 9, max: 1), which nothing meets: change one of them',
  );
});
