import fc from 'fast-check';
import { DEFAULT_KEY_PREFIX, generateKey, hashSecret, parseKey, secretMatches } from '../../src/auth/keys';
import { AppError } from '../../src/errors';
import { totalOf } from '../../src/resources/rules';
import { findPage, firstPage, type ListRequest } from '../../src/tenant/pagination';
import type { SortKind } from '../../src/tenant/sortKinds';
import { searchWords } from '../../src/stored/search';
import { emptyRows } from '../support/emptyRows';

// the same cases on every machine; a failure prints how to reproduce it
fc.configureGlobal({ seed: 20261121 });

/** Any text that a database stores unchanged, up to a length. */
const text = (maxLength: number): fc.Arbitrary<string> => fc.string({ unit: 'binary', maxLength });

function oneOf(characters: string): fc.Arbitrary<string> {
  return fc.constantFrom(...Array.from(characters));
}

/** A text with one character replaced, inserted or deleted, or two neighbours swapped. */
function mutated(original: fc.Arbitrary<string>): fc.Arbitrary<{ original: string; changed: string }> {
  const character = fc.oneof(
    oneOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+/ .'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
  );
  return fc
    .tuple(original, fc.nat(), character, fc.constantFrom('replace', 'insert', 'delete', 'swap'))
    .map(([whole, place, other, how]) => {
      const at = place % whole.length;
      const [start, here, end] = [whole.slice(0, at), whole.charAt(at), whole.slice(at + 1)];
      const ways = {
        replace: other + end,
        insert: other + here + end,
        delete: end,
        swap: end.charAt(0) + here + end.slice(1),
      };
      return { original: whole, changed: start + ways[how] };
    })
    .filter(({ original: whole, changed }) => whole !== changed);
}

describe('a cursor', () => {
  // also a time and a text whose names are like those of the other
  const SORTS = [
    'created_at',
    '-updated_at',
    'made_on',
    'name',
    '-name',
    'located_at',
    'size',
    '-size',
    'active',
  ] as const;
  const time = fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-12-31') });
  const row = fc.record({
    _id: fc.uuid(),
    name: text(200),
    located_at: text(200),
    created_at: time,
    updated_at: time,
    made_on: time,
    size: fc.double({ noNaN: true }),
    active: fc.boolean(),
  });
  const list = fc.record({
    organisationId: fc.uuid(),
    operation: fc.constantFrom('products', 'customers'),
    sort: fc.constantFrom(...SORTS),
    filters: fc.dictionary(fc.constantFrom('q', 'sku', 'category'), text(50)),
  });
  type Row = typeof row extends fc.Arbitrary<infer T> ? T : never;
  type List = typeof list extends fc.Arbitrary<infer T> ? T : never;

  function request({ sort, ...rest }: List, cursor?: string): ListRequest {
    const kinds: Readonly<Record<string, SortKind>> = {
      name: 'string',
      located_at: 'string',
      size: 'number',
      active: 'boolean',
    };
    const args = { sort, limit: 1, ...(cursor === undefined ? {} : { cursor }) };
    return { ...rest, args, conditions: [], kindOf: (member) => kinds[member] ?? 'dateTime' };
  }

  function cursorOf(rows: Row, of: List): string {
    return firstPage([rows, rows], request(of)).next_cursor!;
  }

  /** The query conditions of a cursor. @throws AppError if it is rejected */
  async function conditionsOf(cursor: string, of: List): Promise<unknown> {
    const { rows, asked } = emptyRows<Row>();
    await findPage(rows, request(of, cursor));
    return asked();
  }

  test('continues after the row it was made from, in the order of its list', async () => {
    await fc.assert(
      fc.asyncProperty(row, list, async (last, of) => {
        const field = of.sort.replace('-', '') as keyof Row;
        const [reached, beyond] = of.sort.startsWith('-') ? ['$lte', '$lt'] : ['$gte', '$gt'];
        const found = await conditionsOf(cursorOf(last, of), of);
        expect(found).toMatchObject({
          [field]: { [reached]: last[field] },
          $or: [{ [field]: { [beyond]: last[field] } }, { _id: { [beyond]: last._id } }],
        });
      }),
    );
  });

  test('is at most 2,048 characters long, the maximum a list accepts, whatever the row contains', () => {
    const longest = fc.string({
      unit: fc.constantFrom('\u0000', '\u{10ffff}', 'a', '"', '\u2028'),
      minLength: 200,
      maxLength: 200,
    });
    fc.assert(
      fc.property(row, list, longest, (last, of, name) => {
        expect(cursorOf({ ...last, name }, { ...of, sort: 'name' }).length).toBeLessThanOrEqual(2048);
      }),
    );
  });

  test('is rejected for any other list, and with any one character changed', async () => {
    const one = fc.record({ last: row, of: list });
    const changes = fc.oneof(
      fc.tuple(one, list).map(([{ last, of }, other]) => ({ cursor: cursorOf(last, of), own: of, asked: other })),
      one.chain(({ last, of }) =>
        mutated(fc.constant(cursorOf(last, of))).map(({ changed }) => ({ cursor: changed, own: undefined, asked: of })),
      ),
    );
    await fc.assert(
      fc.asyncProperty(changes, async ({ cursor, own, asked }) => {
        fc.pre(JSON.stringify(own) !== JSON.stringify(asked));
        const error: unknown = await conditionsOf(cursor, asked).catch((caught: unknown) => caught);
        expect(error).toBeInstanceOf(AppError);
        expect(error).toMatchObject({ code: 'invalid_request', extras: { errors: [{ parameter: 'cursor' }] } });
      }),
      { numRuns: 500 },
    );
  });

  test('of any other text gets 400', async () => {
    const anything = fc.oneof(
      text(300),
      fc.json().map((json) => Buffer.from(json).toString('base64url')),
    );
    await fc.assert(
      fc.asyncProperty(anything, list, async (cursor, of) => {
        await expect(conditionsOf(cursor, of)).rejects.toMatchObject({ code: 'invalid_request', status: 400 });
      }),
    );
  });
});

describe('money', () => {
  const amount = fc.oneof(
    fc.maxSafeInteger(),
    fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 0, 1, -1),
  );

  test('a total is exact up to 2^53-1', () => {
    fc.assert(
      fc.property(amount, amount, amount, amount, (subtotal, discount, vat, shipping) => {
        const exact = BigInt(subtotal) - BigInt(discount) + BigInt(vat) + BigInt(shipping);
        fc.pre(Number.isSafeInteger(Number(exact)));
        const amounts = {
          subtotal_minor: subtotal,
          discount_minor: discount,
          vat_minor: vat,
          shipping_minor: shipping,
        };
        expect(BigInt(totalOf(amounts))).toBe(exact);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('a key', () => {
  const prefixes = fc.constantFrom(DEFAULT_KEY_PREFIX, 'svc_test_', 'k_', 'a_b_c_');
  const made = prefixes.chain((prefix) =>
    text(20).map((pepper) => ({ prefix, pepper, ...generateKey(prefix, pepper) })),
  );

  test('is parsed correctly, and matches its stored hash only with its own pepper', () => {
    fc.assert(
      fc.property(made, text(20), ({ key, id, prefix, pepper, ...kept }, other) => {
        const parsed = parseKey(key, prefix)!;
        expect(parsed.id).toBe(id);
        expect(hashSecret(parsed.secret, kept.salt, pepper)).toBe(kept.hash);
        expect(secretMatches(parsed.secret, kept, pepper)).toBe(true);
        if (other !== pepper) expect(secretMatches(parsed.secret, kept, other)).toBe(false);
      }),
    );
  });

  test('is rejected with any one character changed, inserted or deleted, or any two swapped', () => {
    const keys = made.chain(({ key, prefix }) => mutated(fc.constant(key)).map(({ changed }) => ({ changed, prefix })));
    fc.assert(
      fc.property(keys, ({ changed, prefix }) => {
        expect(parseKey(changed, prefix)).toBeUndefined();
      }),
      { numRuns: 2000 },
    );
  });

  test('is never found in any other text', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          text(200),
          text(72).map((rest) => DEFAULT_KEY_PREFIX + rest),
        ),
        (anything) => {
          expect(parseKey(anything, DEFAULT_KEY_PREFIX)).toBeUndefined();
        },
      ),
    );
  });
});

describe('search words', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 100 }),
    text(100),
    fc.lorem(),
    fc.string({ unit: oneOf('aAßẞıİΣσςéÉe\u0301ŒæﬃÅǅ가각ㄱ한العربية 1²-'), maxLength: 40 }),
  );

  test('of search words are unchanged', () => {
    fc.assert(
      fc.property(anyText, (given) => {
        const words = searchWords([given]);
        expect(searchWords([words.join(' ')]).sort()).toEqual(words.sort());
      }),
      { numRuns: 1000 },
    );
  });

  test('any prefix of any word of a text matches it', () => {
    const beginnings = anyText.filter(isPlain).chain((given) => {
      const words = given.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word !== '');
      if (words.length === 0) return fc.constant({ given, beginning: '' });
      const beginning = fc
        .tuple(fc.constantFrom(...words), fc.nat())
        .map(([word, at]) => beginningOf(Array.from(word), at));
      return beginning.map((found) => ({ given, beginning: found }));
    });
    fc.assert(
      fc.property(beginnings, ({ given, beginning }) => {
        const stored = searchWords([given]);
        const missed = searchWords([beginning]).filter((word) => !stored.some((one) => one.startsWith(word)));
        expect(missed).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  /** Whether letters decompose only into letters and signs into signs; № becomes No, and ½ becomes 1⁄2. */
  function isPlain(given: string): boolean {
    const isInWord = (character: string): boolean => /[\p{L}\p{N}\p{M}]/u.test(character);
    return Array.from(given).every((character) =>
      Array.from(character.normalize('NFKD')).every((part) => isInWord(part) === isInWord(character)),
    );
  }

  function beginningOf(characters: readonly string[], at: number): string {
    return characters.slice(0, 1 + (at % characters.length)).join('');
  }

  test('do not depend on case or on how accents are written', () => {
    const latin = fc.string({ unit: oneOf('abcdefxyzéüåñçøœß 0123'), maxLength: 60 });
    fc.assert(
      fc.property(latin, (given) => {
        const words = searchWords([given]).sort();
        expect(searchWords([given.toUpperCase()]).sort()).toEqual(words);
        expect(searchWords([given.normalize('NFD')]).sort()).toEqual(words);
      }),
    );
  });
});
