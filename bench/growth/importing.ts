import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { runToEnd } from '../../faults/processes';
import { ROOT } from '../../tools/facts';
import { productsOf, quotesOf } from '../data';
import { type Cores, onServerCore } from '../machine';
import type { Rig } from '../rig';
import type { GrowthSection } from './section';

/* The product's import command, run as a process on generated files. */

const LEAST = 5000;

export async function measureImport(rig: Rig, cores: Cores | undefined, records: number): Promise<GrowthSection> {
  const files = {
    quotes: await write(rig, 'quotes', quotesOf(4, { lines: 3, perCustomer: 60 }), records),
    products: await write(rig, 'products', productsOf(5, Math.ceil(records / 1000), 1000), records),
  };
  const measured: { file: string; perSecond: number; seconds: number }[] = [];
  for (const [file, path] of Object.entries(files)) {
    const { id } = await rig.store.control.organisations.create({ name: file, plan: 'integrations', currency: 'EUR' });
    const from = performance.now();
    const out = await runToEnd(
      ...onServerCore(cores, process.execPath, [join(ROOT, 'dist', 'main.js'), 'import', '--org', id, '--json', path]),
      rig.environment,
    );
    const seconds = (performance.now() - from) / 1000;
    const report = (JSON.parse(out) as { files: Record<string, { created: number }> }).files[file];
    if (report?.created !== records) throw new Error(`import stored ${String(report?.created)} ${file}`);
    measured.push({ file, seconds, perSecond: records / seconds });
  }
  return {
    title: 'Import',
    method: `\`scopegate import\` of ${records.toLocaleString('en')} generated records per file into an empty organisation, including process startup; quotes have three lines.`,
    headings: ['file', 'seconds', 'documents/s'],
    rows: measured.map(({ file, seconds, perSecond }) => [file, seconds.toFixed(1), whole(perSecond)]),
    goals: measured.map(({ file, perSecond }) => ({
      name: `import/${file}`,
      title: `${file}, documents/s`,
      wanted: `at least ${whole(LEAST)}`,
      measured: whole(perSecond),
      isMet: perSecond >= LEAST,
    })),
  };
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en');
}

/** Writes a file as `export` would. */
async function write(
  rig: Rig,
  name: string,
  documents: Iterable<{ readonly _id: string; readonly search: readonly string[] }>,
  count: number,
): Promise<string> {
  const folder = join(rig.place, 'import');
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name}.ndjson`);
  const lines = function* (): Generator<string> {
    let written = 0;
    for (const { _id: id, search: _search, ...members } of documents) {
      if (written === count) return;
      written += 1;
      yield `${JSON.stringify({ id, ...members })}\n`;
    }
  };
  await pipeline(Readable.from(lines()), createWriteStream(path));
  return path;
}
