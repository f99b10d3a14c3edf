import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../packages/examples/run';
import { type Block, blocksOf, ROOT } from './markdown';

/* Applies the guide's invoice files and changes to a copy of the repository, compiles and tests the copy. */

const TSX = join(ROOT, 'node_modules', '.bin', 'tsx');
/** Inside the repository, so that installed packages are resolved. */
const CACHE = join(ROOT, '.cache');
const GUIDE = 'docs/guides/contributors.md';
/** What a copy needs from the repository to run tests. */
const PARTS = ['src', 'schema', 'web', 'examples', 'test', 'faults', 'tools', 'docs', 'clients/typescript/src'];
const FILES = [
  'clients/typescript/package.json',
  // the served guides link to them
  'clients/typescript/README.md',
  'clients/python/README.md',
  'clients/sync/README.md',
  'openapi.json',
  'openapi.operator.json',
  'README.md',
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

let copy: string;

beforeAll(async () => {
  await mkdir(CACHE, { recursive: true });
  copy = await mkdtemp(join(CACHE, 'guide-'));
  await applyGuide(copy);
  await cp(join(__dirname, 'invoices.ts'), join(copy, 'test', 'api', 'invoices.test.ts'));
});
afterAll(() => rm(copy, { recursive: true }));

test('the copy compiles and passes the linter', async () => {
  // in a repository of its own, as this one ignores its cache
  await run('git', ['init', '--quiet'], { cwd: copy });
  await run(join(ROOT, 'node_modules', '.bin', 'oxlint'), ['--config', 'oxlint.config.mjs', 'src'], { cwd: copy });
  await run(TSX, [join('tools', 'check.ts')], { cwd: copy });
});

/** Suites that cover every operation and every list, and that of the guide's own rules. */
const SUITES: readonly (readonly [pattern: string, ...files: string[]])[] = [
  [
    'invoice|victim|every operation|of the contract',
    ...['faces', 'scopes', 'tenancy', 'routes'].map((name) => `test/security/${name}`),
    ...['injection', 'refusedWrites', 'matrix'].map((name) => `test/security/attacks/${name}`),
  ],
  [
    '',
    ...['invoices', 'filters', 'files', 'indexes', 'relations', 'search', 'pagination'].map(
      (name) => `test/api/resources/${name}`,
    ),
    ...['mcp/tools', 'contract/openapi.test', 'unit/schema'].map((name) => `test/${name}`),
  ],
];

test.each(SUITES)(
  'the tests pass for invoices, the generated ones unedited: %s %s',
  async (pattern, ...files) => {
    const jest = join(ROOT, 'node_modules', '.bin', 'jest');
    const report = join(copy, 'report.json');
    const chosen = ['--testNamePattern', pattern, '--json', '--outputFile', report];
    // not those on the folder of a user, which has invoices too
    const projects = ['--selectProjects', 'unit', 'api', 'full'];
    const options = ['-w', '1', '--rootDir', copy, '--config', join(copy, 'jest.config.js'), ...projects, ...chosen];
    await run(jest, [...options, '--', ...files], {
      cwd: copy,
      env: { TEST_MONGODB_URI: process.env.TEST_MONGODB_URI ?? '' },
    });
    const { numPassedTests, numFailedTests } = JSON.parse(await readFile(report, 'utf8')) as Record<string, number>;
    expect(numFailedTests).toBe(0);
    expect(numPassedTests).toBeGreaterThan(50);
  },
  600_000,
);

/** Copies the repository to a folder and applies the guide. */
async function applyGuide(copy: string): Promise<void> {
  for (const part of [...PARTS, ...FILES]) await cp(join(ROOT, part), join(copy, part), { recursive: true });
  let target = '';
  for (const block of blocksOf(GUIDE)) {
    if (block.reason === 'applied to a copy') await run('bash', ['-euc', block.text], { cwd: copy });
    if (block.language !== 'diff') continue;
    target = /^(?:In )?`([\w/.-]+)`[:,]/.exec(block.before)?.[1] ?? target;
    await change(copy, target, block);
  }
  await addRows(copy);
  // npm run openapi
  for (const [file, ...args] of [['openapi.json'], ['openapi.operator.json', 'operator']] as const)
    await writeFile(join(copy, file), await run(TSX, [join('tools', 'openapi.ts'), ...args], { cwd: copy }));
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
    const due = new Date(Date.parse(created_at) + 30 * 86_400_000).toISOString().slice(0, 10);
    return {
      // not the id of the quote
      id: id.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
      number: `INV-${number.slice(2)}`,
      status: ['open', 'paid', 'void'][at % 3],
      currency,
      total_minor,
      due_on: at % 5 === 0 ? null : due,
      customer_id,
      created_at,
      updated_at,
    };
  });
  await writeFile(file('invoices'), [shown, ...rows].map(exported).join(''));
}

/** A line as `export` writes it. No text of these rows contains the separators. */
function exported(row: object): string {
  const members = Object.entries(row).map(([name, value]) => `"${name}": ${JSON.stringify(value)}`);
  return `{${members.join(', ')}}\n`;
}
