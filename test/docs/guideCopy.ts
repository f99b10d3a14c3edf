import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from '../examples/run';
import { type Block, blocksOf, ROOT } from './markdown';

/* Applies the files and changes of the guide for contributors to a copy of the repository. */

const GUIDE = 'docs/guides/contributors.md';
/** What a copy needs from the repository to run tests. */
const PARTS = ['src', 'schema', 'public', 'examples', 'test', 'faults', 'tools', 'docs', 'openapi.json', 'README.md'];
const FILES = [
  'package.json',
  'tsconfig.json',
  'jest.config.js',
  'oxlint.config.mjs',
  'CONTRIBUTING.md',
  'SECURITY.md',
];

type Quote = Readonly<
  Record<'id' | 'number' | 'currency' | 'total_minor' | 'customer_id' | 'created_at' | 'updated_at', string>
>;
const DAY = 24 * 60 * 60 * 1000;

/** Copies the repository to a folder and applies the guide. */
export async function applyGuide(copy: string): Promise<void> {
  for (const part of [...PARTS, ...FILES]) await cp(join(ROOT, part), join(copy, part), { recursive: true });
  let target = '';
  for (const block of blocksOf(GUIDE).filter(({ language }) => ['graphql', 'ts', 'diff', 'json'].includes(language))) {
    target = /^(?:In )?`([\w/.-]+)`[:,]/.exec(block.before)?.[1] ?? target;
    await (block.language === 'diff' ? change(copy, target, block) : create(copy, target, block));
  }
  await addRows(copy);
  // npm run openapi
  const tsx = join(ROOT, 'node_modules', '.bin', 'tsx');
  await writeFile(join(copy, 'openapi.json'), await run(tsx, [join('tools', 'openapi', 'main.ts')], { cwd: copy }));
}

async function create(copy: string, file: string, { text }: Block): Promise<void> {
  await mkdir(dirname(join(copy, file)), { recursive: true });
  await writeFile(join(copy, file), `${text}\n`, { flag: 'wx' });
}

/** Applies a diff block; its old lines, with their context, must occur exactly once. */
async function change(copy: string, file: string, { text }: Block): Promise<void> {
  const lines = text.split('\n');
  const side = (left: string): string =>
    lines
      .filter((line) => !line.startsWith(left))
      .map((line) => `${line.slice(1)}\n`)
      .join('');
  const old = await readFile(join(copy, file), 'utf8');
  const parts = old.split(side('+'));
  if (parts.length !== 2) throw new Error(`${file} does not contain exactly once: ${side('+')}`);
  await writeFile(join(copy, file), parts.join(side('-')));
}

/** Adds the sample rows after the example: an invoice for each of the first quotes. */
async function addRows(copy: string): Promise<void> {
  const file = (name: string): string => join(copy, 'examples', 'northwind', `${name}.ndjson`);
  const shown = JSON.parse(await readFile(join(copy, 'schema', 'examples', 'invoices.json'), 'utf8')) as object;
  const quotes = (await readFile(file('quotes'), 'utf8')).split('\n').slice(0, 41);
  const rows = quotes.slice(1).map((line, at) => {
    const { id, number, currency, total_minor, customer_id, created_at, updated_at } = JSON.parse(line) as Quote;
    const due = new Date(Date.parse(created_at) + 30 * DAY).toISOString().slice(0, 10);
    return {
      // not the id of the quote
      ...{ id: id.replace(/^./, (digit) => (digit === '0' ? '1' : '0')), number: `INV-${number.slice(2)}` },
      ...{
        status: ['open', 'paid', 'void'][at % 3],
        currency,
        total_minor,
        due_on: at % 5 === 0 ? null : due,
        customer_id,
        created_at,
        updated_at,
      },
    };
  });
  await writeFile(file('invoices'), [shown, ...rows].map(exported).join(''));
}

/** A line as `export` writes it. No text of these rows contains the separators. */
function exported(row: object): string {
  const members = Object.entries(row).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  return `{${members.join(', ')}}\n`;
}
