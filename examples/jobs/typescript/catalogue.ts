/*
 * Makes the catalogue equal to a file with one product a line: npx tsx catalogue.ts products.ndjson
 * After a crash, run it again: what is stored already is `unchanged`.
 */
import { readFile } from 'node:fs/promises';
import { Scopegate } from '@scopegate/client';

/** How many elements a call takes. */
const PER_CALL = 1000;
/** If a larger share of the active products is not in the file, the file is more likely broken than right. */
const MOST_GONE = 0.1;

interface Product {
  readonly sku: string;
  readonly [member: string]: unknown;
}

const api = new Scopegate();
const [file = 'products.ndjson'] = process.argv.slice(2);
const counts = { created: 0, updated: 0, unchanged: 0, failed: 0 };

/** A product of the file, and its line. A product that comes back is active again, unless the file says otherwise. */
function read(text: string, line: number): { line: number; product: Product } {
  try {
    const product = JSON.parse(text) as Product;
    if (typeof product.sku === 'string') return { line, product: { active: true, ...product } };
  } catch {
    // said below
  }
  throw new Error(`${file}:${line}: not a product with a sku, so nothing was sent`);
}

/** Stores products, and prints why some are not. */
async function store(rows: readonly { line?: number; product: Product }[]): Promise<void> {
  for (let start = 0; start < rows.length; start += PER_CALL) {
    const batch = rows.slice(start, start + PER_CALL);
    const report = await api.post('/products/bulk', { body: { products: batch.map(({ product }) => product) } });
    for (const outcome of ['created', 'updated', 'unchanged', 'failed'] as const) counts[outcome] += report[outcome];
    for (const { index, sku, outcome, errors } of report.results) {
      if (outcome !== 'failed') continue;
      const faults = errors.map(({ pointer, detail }) => `${pointer.split('/').slice(3).join('/')} ${detail}`);
      console.error(`${file}:${batch[index]?.line}: ${sku}: ${faults.join('; ')}`);
    }
  }
}

const lines = (await readFile(file, 'utf8')).split('\n').map((text, at) => ({ text, line: at + 1 }));
const rows = lines.filter(({ text }) => text.trim() !== '').map(({ text, line }) => read(text, line));
await store(rows);

// the API stores and compares skus in this form
const named = new Set(rows.map(({ product }) => product.sku.normalize('NFC')));
const active: string[] = [];
for await (const { sku } of api.list('/products', { query: { active: true } })) active.push(sku);
const gone = active.filter((sku) => !named.has(sku));
if (gone.length > active.length * MOST_GONE)
  throw new Error(`${gone.length} of ${active.length} active products are not in ${file}, so none was deactivated`);
await store(gone.map((sku) => ({ product: { sku, active: false } })));

const { created, updated, unchanged, failed } = counts;
console.log(
  `${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed, ${gone.length} deactivated`,
);
if (failed > 0) process.exitCode = 1;
