import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../examples/run';
import { applyGuide } from './guideCopy';
import { ROOT } from './markdown';

/* Applies the guide's invoice files and changes to a copy of the repository, compiles and tests the copy. */

const TSX = join(ROOT, 'node_modules', '.bin', 'tsx');
/** Inside the repository, so that installed packages are resolved. */
const CACHE = join(ROOT, '.cache');

let copy: string;

beforeAll(async () => {
  await mkdir(CACHE, { recursive: true });
  copy = await mkdtemp(join(CACHE, 'guide-'));
  await applyGuide(copy);
  await cp(join(__dirname, 'invoices.ts'), join(copy, 'test', 'resources', 'invoices.test.ts'));
});
afterAll(() => rm(copy, { recursive: true }));

test('the rules for invoices fit on one screen', async () => {
  const rules = await readFile(join(copy, 'src', 'resources', 'invoices.ts'), 'utf8');
  expect(rules.split('\n').length).toBeLessThanOrEqual(60);
});

test('the copy compiles and passes the linter', async () => {
  // in a repository of its own, as this one ignores its cache
  await run('git', ['init', '--quiet'], { cwd: copy });
  await run(join(ROOT, 'node_modules', '.bin', 'oxlint'), ['--config', 'oxlint.config.mjs', 'src'], { cwd: copy });
  await run(TSX, [join('tools', 'schemaLint', 'main.ts')], { cwd: copy });
}, 240_000);

/** Suites that cover every operation and every list, and that of the guide's own rules. */
const SUITES: readonly (readonly [pattern: string, ...files: string[]])[] = [
  [
    'invoice|victim|every operation|of the contract',
    ...['faces', 'scopes', 'tenancy', 'routes'].map((name) => `test/contract/${name}`),
    ...['injection', 'refusedWrites', 'matrix'].map((name) => `test/attacks/${name}`),
  ],
  [
    '',
    ...['invoices', 'filters', 'files', 'indexes', 'relations', 'search', 'pagination'].map(
      (name) => `test/resources/${name}`,
    ),
    ...['mcp/tools', 'contract/openapi.test', 'unit/schema', 'unit/guideSteps'].map((name) => `test/${name}`),
  ],
];

test.each(SUITES)(
  'the tests pass for invoices, the generated ones unedited: %s %s',
  async (pattern, ...files) => {
    const jest = join(ROOT, 'node_modules', '.bin', 'jest');
    const report = join(copy, 'report.json');
    const chosen = ['--testNamePattern', pattern, '--json', '--outputFile', report];
    await run(jest, ['-w', '1', '--rootDir', copy, '--config', join(copy, 'jest.config.js'), ...chosen, ...files], {
      cwd: copy,
      env: { TEST_MONGODB_URI: process.env.TEST_MONGODB_URI ?? '' },
    });
    const { numPassedTests, numFailedTests } = JSON.parse(await readFile(report, 'utf8')) as Record<string, number>;
    expect(numFailedTests).toBe(0);
    expect(numPassedTests).toBeGreaterThan(50);
  },
  600_000,
);
