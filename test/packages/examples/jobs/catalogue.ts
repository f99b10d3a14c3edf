import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blocksOf, read, ROOT } from '../../../docs/markdown';
import { type Json, readAll } from '../../../support/client';
import { northwind } from '../../../support/factories';
import { type Jobs, ndjson } from './scene';

/* The job that keeps products as they are in a file. */

export function catalogue({ ended, killed, file, scene }: Jobs): void {
  test('a catalogue equals its file, whatever was killed; bad rows are named, and what vanished is inactive', async () => {
    const stored = northwind('products');
    const { key, caller, rows } = await scene('catalogue', { products: stored });
    // as the page says of the sample, and of its one line
    const page = read('docs/guides/jobs/catalogue.md').replaceAll(/\s+/g, ' ');
    const [line] = blocksOf('docs/guides/jobs/catalogue.md').filter(({ language }) => language === 'json');
    const sample = await ended(key, 'catalogue', join(ROOT, 'examples', 'northwind', 'products.ndjson'));
    expect(sample.code).toBe(0);
    await writeFile(file('products.ndjson'), line!.text);
    const alone = await ended(key, 'catalogue');
    expect(alone.code).toBe(1);
    for (const said of [sample.said, ...alone.said.split(/(?<=\n)/)]) expect(page).toContain(`\`${said.trim()}\``);
    await rows('products').deleteOne({ sku: (JSON.parse(line!.text) as Json).sku });
    const [bad, ...kept] = stored
      .slice(0, -5)
      .map(({ id: _id, created_at: _c, updated_at: _u, ...members }) => members);
    const added = Array.from({ length: 960 }, (_, n) => ({ sku: `NEW-${String(n)}`, name: 'New', category: null }));
    const products: Json[] = [
      ...[{ ...bad, unit_price_minor: -1 }, { ...kept[0], unit_price_minor: 12_345 }, ...kept.slice(1)],
      // stored as one character
      ...[{ sku: 'CAFE\u0301', name: 'Coffee' }, ...added],
    ];
    // in another call than the first ones
    const again = [
      { sku: 'CAF\u00c9', name: 'Another' },
      { ...kept[1], name: 'Another' },
    ];
    const faulty = [{ sku: 17, name: 'A number' }, { name: 'Nothing' }, ...again];
    const all = [...products, ...faulty];
    await writeFile(file('products.ndjson'), ndjson(all).slice(0, -2));
    expect(await ended(key, 'catalogue')).toMatchObject({ code: 1, said: expect.stringContaining('nothing was sent') });
    await writeFile(file('products.ndjson'), ndjson(all));
    await killed('after', /bulk/, key, 'catalogue');
    await killed('before', /GET .*active/, key, 'catalogue');
    const last = await ended(key, 'catalogue');
    expect(last.said).toContain(`products.ndjson:1: ${String(bad!.sku)}: unit_price_minor must be`);
    const at = (row: object): string => `products.ndjson:${String(all.indexOf(row) + 1)}`;
    for (const row of faulty.slice(0, 2)) expect(last.said).toContain(`${at(row)}: sku must be a text\n`);
    expect(last.said).toContain(`${at(again[0]!)}: CAF\u00c9: sku is that of ${at(products[72]!)}\n`);
    expect(last.said).toContain(`${at(again[1]!)}: ${String(kept[1]!.sku)}: sku is that of ${at(kept[1]!)}\n`);
    const counts = `0 created, 0 updated, ${String(products.length - 1)} unchanged, 5 failed, 5 deactivated`;
    expect(last).toMatchObject({ code: 1, said: expect.stringContaining(counts) });
    const found = new Map((await readAll(caller, '/products', { limit: 100 })).map((row) => [row.sku, row]));
    const wanted = products.map((row) => (row.sku === bad!.sku ? bad : { ...row, sku: row.sku.normalize('NFC') }));
    expect(found.size).toBe(wanted.length + 5);
    for (const row of wanted) expect(found.get(row.sku)).toMatchObject({ active: true, ...row });
    const vanished = stored.slice(-5).map(({ sku }) => sku);
    for (const sku of vanished) expect(found.get(sku)).toMatchObject({ active: false });
    // whole lines are missing
    await writeFile(file('products.ndjson'), ndjson(products.slice(0, 900)));
    const cut = await ended(key, 'catalogue');
    expect(cut).toMatchObject({ code: 1, said: expect.stringContaining('none was deactivated') });
    expect(cut.said).toContain('0 created, 0 updated, 899 unchanged, 1 failed, 0 deactivated\n');
    await writeFile(file('products.ndjson'), ndjson([{ sku: vanished[0], name: 'Back' }, ...products]));
    await ended(key, 'catalogue');
    const { body } = await caller.get('/products', { sku: vanished[0] });
    expect(body.data).toMatchObject([{ name: 'Back', active: true }]);
  });
}
