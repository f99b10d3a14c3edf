import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../examples/run';
import { applyGuide } from './guideCopy';
import { ROOT } from './markdown';

/* Applies the guide's invoice files and changes to a copy of the repository, compiles, calls and tests the copy. */

const TSX = join(ROOT, 'node_modules', '.bin', 'tsx');
/** Inside the repository, so that installed packages are resolved. */
const CACHE = join(ROOT, '.cache');

let copy: string;

beforeAll(async () => {
  await mkdir(CACHE, { recursive: true });
  copy = await mkdtemp(join(CACHE, 'guide-'));
  await applyGuide(copy);
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

test('invoices can be imported, listed, read and searched in both APIs, require their scope, and are in the OpenAPI document', async () => {
  const { id, customer, ...invoice } = {
    ...{ id: randomUUID(), customer: randomUUID(), number: 'INV-2026-1', status: 'open', currency: 'EUR' },
    ...{ total_minor: 12_345, due_on: '2026-12-24' },
    ...{ created_at: '2026-11-21T09:00:00.000Z', updated_at: '2026-11-21T09:00:00.000Z' },
  };
  const row = { id, ...invoice, customer_id: null };
  await mkdir(join(copy, 'data'));
  const late = { ...row, id: randomUUID(), number: 'INV-2026-2', due_on: '2026-11-20' };
  await writeFile(join(copy, 'data', 'invoices.ndjson'), [row, late].map((one) => `${JSON.stringify(one)}\n`).join(''));
  const output = await run(TSX, [join('test', 'docs', 'invoiceCalls.ts'), customer], {
    cwd: copy,
    env: {
      MONGODB_URI: process.env.TEST_MONGODB_URI ?? '',
      CONTROL_DATABASE: 'scopegate_guide',
      PORT: '0',
      LOG_LEVEL: 'warn',
    },
  });
  const called = JSON.parse(output.split('\n').findLast((line) => line.startsWith('{')) ?? '{}') as Record<
    string,
    unknown
  >;
  const { faults, list, one, found, nothing, numbered, unnumbered, foreign, bad, graphql, refused, paths } = called;
  const { due, least, totals, before } = called;
  expect(faults).toMatchObject([{ line: 2, pointer: '/due_on', code: 'order' }]);
  expect(list).toEqual({ data: [row], has_more: false, next_cursor: null });
  expect(one).toEqual(row);
  expect(found).toMatchObject({ data: [{ id }] });
  expect([nothing, unnumbered]).toMatchObject([{ data: [] }, { data: [] }]);
  expect(numbered).toMatchObject({ data: [{ id }] });
  expect(due).toMatchObject([{ data: [{ id }] }, { data: [] }]);
  expect(least).toMatchObject([{ data: [{ id }] }, { data: [] }]);
  const month = { currency: 'EUR', month: '2026-12', count: 1, total_minor: 12_345 };
  expect(totals).toEqual({ data: { invoice_totals: { data: [month] } } });
  expect(before).toEqual({ data: { invoice_totals: { data: [] } } });
  expect(foreign).toMatchObject({ status: 404, code: 'not_found' });
  expect(bad).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ parameter: 'status' }] });
  expect(graphql).toEqual({ data: { invoice: { number: 'INV-2026-1', customer: null } } });
  expect(refused).toMatchObject({ status: 403, required_scope: 'invoices:read' });
  expect(paths).toEqual(['/invoices', '/invoices/{id}']);
  const { changed, stale, unnamed, lost, early, overGraphql, writers, repeated, unscoped } = called;
  expect(changed).toMatchObject({ status: 200, body: { ...row, status: 'paid', updated_at: expect.any(String) } });
  expect(stale).toMatchObject({ status: 412, body: { code: 'precondition_failed' } });
  expect(unnamed).toMatchObject({ status: 200, body: { due_on: null } });
  expect(lost).toMatchObject({ status: 404, body: { code: 'not_found' } });
  expect(early).toMatchObject({ status: 422, body: { errors: [{ pointer: '/due_on', code: 'order' }] } });
  expect(overGraphql).toMatchObject({ data: { change_invoice: { status: 'void' } } });
  expect(writers).toEqual([200, 412]);
  expect(repeated).toEqual([200, 200, true]);
  expect(unscoped).toMatchObject({ status: 403, body: { required_scope: 'invoices:write' } });
}, 240_000);

/** Suites that cover every operation and every list, by folder. */
const SUITES: readonly (readonly [pattern: string, ...files: string[]])[] = [
  [
    'invoice|victim|every operation|of the contract',
    ...['faces', 'scopes', 'tenancy', 'routes', 'sofaRouting'].map((name) => `test/contract/${name}`),
    ...['injection', 'refusedWrites', 'matrix'].map((name) => `test/attacks/${name}`),
  ],
  [
    '',
    ...['filters', 'files', 'indexes', 'relations', 'search', 'pagination'].map((name) => `test/resources/${name}`),
    ...['mcp/tools', 'contract/openapi.test', 'unit/schema', 'unit/guideSteps'].map((name) => `test/${name}`),
  ],
];

test.each(SUITES)(
  'the generated tests pass unedited for invoices: %s %s',
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
