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

/** A product, and where it was found. */
interface Row {
  readonly where: string;
  readonly product: Product;
}

const api = new Scopegate();
const [file = 'products.ndjson'] = process.argv.slice(2);
const counts = { created: 0, updated: 0, unchanged: 0, failed: 0, deactivated: 0 };

function fail(where: string, why: string): void {
  counts.failed += 1;
  console.error(`${where}: ${why}`);
}

/** A row of the file. A product that comes back is active again, unless the file says otherwise. */
function read(text: string, where: string): Row {
  try {
    if (text.startsWith('{')) return { where, product: { active: true, ...(JSON.parse(text) as Product) } };
  } catch {
    // said below
  }
  throw new Error(`${where}: not a product, so nothing was sent`);
}

/** Stores products, and prints why some are not. */
async function store(rows: readonly Row[], changed: 'updated' | 'deactivated'): Promise<void> {
  for (let start = 0; start < rows.length; start += PER_CALL) {
    const batch = rows.slice(start, start + PER_CALL);
    const report = await api.post('/products/bulk', { body: { products: batch.map(({ product }) => product) } });
    counts.created += report.created;
    counts[changed] += report.updated;
    counts.unchanged += report.unchanged;
    for (const { index, sku, outcome, errors } of report.results) {
      if (outcome !== 'failed') continue;
      const faults = errors.map(({ pointer, detail }) => `${pointer.split('/').slice(3).join('/')} ${detail}`);
      fail(batch[index]?.where ?? file, `${sku}: ${faults.join('; ')}`);
    }
  }
}

const lines = (await readFile(file, 'utf8')).split('\n').map((text, at) => ({ text, where: `${file}:${at + 1}` }));
const rows = lines.filter(({ text }) => text.trim() !== '').map(({ text, where }) => read(text.trim(), where));

// by sku, in the form in which the API stores and compares them
const named = new Map<string, Row>();
for (const row of rows) {
  const { sku } = row.product;
  const first = typeof sku === 'string' ? named.get(sku.normalize('NFC')) : undefined;
  if (typeof sku !== 'string') fail(row.where, 'sku must be a text');
  else if (first) fail(row.where, `${sku}: sku is that of ${first.where}`);
  else named.set(sku.normalize('NFC'), row);
}
await store([...named.values()], 'updated');

const active: string[] = [];
for await (const { sku } of api.list('/products', { query: { active: true } })) active.push(sku);
const gone = active.filter((sku) => !named.has(sku));
const isBroken = gone.length > active.length * MOST_GONE;
const inactive = gone.map((sku) => ({ where: `not in ${file}`, product: { sku, active: false } }));
if (!isBroken) await store(inactive, 'deactivated');

console.log(
  Object.entries(counts)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(', '),
);
if (isBroken)
  console.error(`${gone.length} of ${active.length} active products are not in ${file}, so none was deactivated`);
if (isBroken || counts.failed > 0) process.exitCode = 1;
