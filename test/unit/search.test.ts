import { findPage } from '../../src/tenant/pagination';
import { resourceOf } from '../../src/resources';
import { published } from '../../src/schema/model';
import { toConditions } from '../../src/stored/collection';
import { searchConditions, searchWords } from '../../src/stored/search';

describe('the words of a text', () => {
  test.each([
    ['nothing', [null, undefined, '', '  ', '- / .'], []],
    [
      'anything other than letters and digits separates words',
      ['NW-001 a.b/c,d_e'],
      ['NW', '001', 'a', 'b', 'c', 'd', 'e'],
    ],
    ['each word once', ['chai Chai CHAI', 'chaï'], ['chai']],
    ['letters of any script', ['日本 Привет'], ['日本', 'Привет']],
    ['full-width letters are letters', ['ＡＢＣ １２３'], ['ABC', '123']],
    ['64 characters at most', ['x'.repeat(100)], ['x'.repeat(64)]],
  ])('%s', (_title, texts, same) => {
    expect(searchWords(texts)).toEqual(searchWords(same));
    expect(searchWords(texts)).toHaveLength(same.length);
  });

  test('are at most 1,000, from at most 20,000 characters of a text', () => {
    const numbers = (from: number) => Array.from({ length: 1200 }, (_none, at) => String(from + at)).join(' ');
    expect(searchWords([numbers(1000)])).toHaveLength(1000);
    expect(searchWords([numbers(1000), numbers(9000)])).toEqual(searchWords([numbers(1000)]));
    expect(searchWords([`a${'-'.repeat(20_000)}b`])).toEqual(['A']);
  });

  test('are those of any number of texts', () => {
    const row = { contacts: Array.from({ length: 200_000 }, () => ({ name: 'Chai tea' })) };
    expect(resourceOf('customers').words(row)).toEqual(searchWords(['Chai tea']));
  });

  test('are found in a short text that grows when it is normalised, and of a long one no further than thrice its length', () => {
    expect(searchWords(['\ufdfa'])).toEqual(searchWords(['صلى الله عليه وسلم']));
    expect(searchWords([`${'\ufdfa'.repeat(1000)} end`])).not.toContain('END');
    expect(searchWords([`${'각'.repeat(1000)} end`])).toContain('END');
  });

  test('are the same for a text as for its parts', () => {
    expect(searchWords(['Chai tea', 'black'])).toEqual(searchWords(['Chai', 'tea', 'black']));
  });
});

/** Whether a search matches a name: each of its words is a prefix of one of the name's. */
function meets(name: string, q: string): boolean {
  const words = searchWords([name]);
  return searchWords([q]).every((asked) => words.some((word) => word.startsWith(asked)));
}

test.each([
  ['Weißbier Straße', ['straße', 'STRASSE', 'strasse', 'STRAẞE', 'stras', 'weiss'], ['strabe', 'tras']],
  ['Smørrebrød', ['smørrebrød', 'SMORREBROD', 'smorre', 'SMØR'], ['smrrebrd']],
  ['Crème brûlée', ['creme', 'BRULEE', 'cre\u0300me', 'brûl'], ['crme']],
  ['Cafe\u0301 au lait', ['café', 'CAFE', 'cafe\u0301', 'càfe', 'lait  au'], ['e\u0301', 'cafe zzz', 'cafeau']],
  ['Œuvre Ægir', ['oeuvre', 'œuvre', 'aegir', 'ÆGIR'], ['uvre']],
  ['Łódź', ['lodz', 'ŁÓDŹ', 'łó'], ['odz']],
  ['İstanbul ışık', ['istanbul', 'ISTANBUL', 'ışık', 'isik'], ['stanbul']],
  ['οδοσήμανση οδός', ['ΟΔΟΣ', 'οδος', 'οδοσημ', 'οδοσ'], ['δος']],
  ['ﬁne ①', ['fine', 'ﬁne', '1'], ['ine']],
  ['Ангел', ['ангел', 'АНГ'], ['гел']],
  ['東京タワー', ['東京', '東'], ['京']],
  ['M8x40/A2-70,zinc_plated', ['m8x40', 'a2', '70', 'zinc', 'plated', 'A2-70', 'plated m8'], ['40', 'm8x40a2']],
  ["O'Brien & Sons (Ltd.)", ["o'brien", 'brien', 'o brien', 'ltd', 'sons,ltd'], ['obrien']],
  [`x${'y'.repeat(120)}`, ['xyy', `x${'y'.repeat(120)}`], ['yy']],
])('words are met however they are written: %s', (name, met, notMet) => {
  expect(met.filter((q) => !meets(name, q))).toEqual([]);
  expect(notMet.filter((q) => meets(name, q))).toEqual([]);
});

describe('a search', () => {
  test('starts with the longest word, whatever the order in the text', () => {
    expect(searchConditions('1 Q-0000123 box', 'q')[0]).toEqual(searchConditions('0000123', 'q')[0]);
  });

  test.each(['-', ' ', '…'])('for "%s", without a word, finds nothing without querying the database', async (q) => {
    const conditions = toConditions({ q }, published.filtersOf('products'));
    const request = { organisationId: 'o', operation: 'products', args: {}, filters: { q }, conditions };
    // an undefined model throws as soon as it is used
    const page = await findPage(undefined as never, request);
    expect(page).toEqual({ data: [], has_more: false, next_cursor: null });
  });
});
