import { createHash } from 'node:crypto';
import { parse } from 'graphql';
import { createDocumentStore } from '../../src/graphql/documents';

/** The key that Apollo uses, with a hash of the schema before that of the text. */
function keyOf(text: string): string {
  return `schema:${createHash('sha256').update(text).digest('hex')}`;
}

async function kept(texts: readonly string[]): Promise<string[]> {
  const store = createDocumentStore();
  for (const text of texts) await store.set(keyOf(text), parse(text));
  const found: string[] = [];
  for (const text of texts) if (await store.get(keyOf(text))) found.push(text);
  return found;
}

function queryOf(name: string, padding: number): string {
  return `{ ${name}: me { key { id } } } #${' '.repeat(padding)}`;
}

describe('the document store', () => {
  test('keeps the latest documents', async () => {
    const texts = Array.from({ length: 3000 }, (_none, at) => queryOf(`a${String(at)}`, 0));
    expect(await kept(texts)).toEqual(texts.slice(-1000));
  });

  test('keeps fewer long documents', async () => {
    const texts = Array.from({ length: 100 }, (_none, at) => queryOf(`a${String(at)}`, 10_000));
    const found = await kept(texts);
    expect(found).toEqual(texts.slice(-found.length));
    expect(found.length).toBeGreaterThan(5);
    expect(found.join('').length).toBeLessThanOrEqual(128 * 1024);
  });

  test('does not keep a document that is too long, and evicts nothing for it', async () => {
    const short = queryOf('short', 0);
    expect(await kept([short, queryOf('long', 20_000)])).toEqual([short]);
  });
});
