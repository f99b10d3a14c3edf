import { randomUUID } from 'node:crypto';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { run } from '../examples/run';
import { type Block, blocksOf, ROOT } from './markdown';

/* Applies the guide's invoice files and changes to a copy of the sources, compiles the copy and calls it. */

const BLOCKS = blocksOf('docs/guides/contributors.md');
/** Inside the repository, so that installed packages are resolved. */
const CACHE = join(ROOT, '.cache');

let copy: string;

beforeAll(async () => {
  await mkdir(CACHE, { recursive: true });
  copy = await mkdtemp(join(CACHE, 'guide-'));
  for (const part of ['src', 'schema', 'public', 'package.json', 'tsconfig.json']) {
    await cp(join(ROOT, part), join(copy, part), { recursive: true });
  }
  let target = '';
  for (const block of BLOCKS.filter(({ language }) => ['graphql', 'ts', 'diff'].includes(language))) {
    target = /^(?:In )?`([\w/.]+)`:$/.exec(block.before)?.[1] ?? target;
    await (block.language === 'diff' ? change(target, block) : create(target, block));
  }
});
afterAll(() => rm(copy, { recursive: true }));

async function create(file: string, { text }: Block): Promise<void> {
  await mkdir(dirname(join(copy, file)), { recursive: true });
  await writeFile(join(copy, file), `${text}\n`, { flag: 'wx' });
}

/** Applies a diff block; its old lines, with their context, must occur exactly once. */
async function change(file: string, { text }: Block): Promise<void> {
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

test('the copy compiles', async () => {
  await writeFile(
    join(copy, 'tsconfig.json'),
    (await readFile(join(copy, 'tsconfig.json'), 'utf8')).replace(/"include": .*/, '"include": ["src"]'),
  );
  await run(join(ROOT, 'node_modules', '.bin', 'tsc'), ['--project', copy]);
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
  await cp(join(__dirname, 'invoiceCalls.ts'), join(copy, 'test', 'docs', 'invoiceCalls.ts'));
  const output = await run(
    join(ROOT, 'node_modules', '.bin', 'tsx'),
    [join('test', 'docs', 'invoiceCalls.ts'), customer],
    {
      cwd: copy,
      env: {
        MONGODB_URI: process.env.TEST_MONGODB_URI ?? '',
        CONTROL_DATABASE: 'scopegate_guide',
        PORT: '0',
        LOG_LEVEL: 'warn',
      },
    },
  );
  const { faults, list, one, found, nothing, numbered, unnumbered, foreign, bad, graphql, refused, paths } = JSON.parse(
    output.split('\n').findLast((line) => line.startsWith('{')) ?? '{}',
  ) as Record<string, unknown>;
  expect(faults).toMatchObject([{ line: 2, pointer: '/due_on', code: 'order' }]);
  expect(list).toEqual({ data: [row], has_more: false, next_cursor: null });
  expect(one).toEqual(row);
  expect(found).toMatchObject({ data: [{ id }] });
  expect([nothing, unnumbered]).toMatchObject([{ data: [] }, { data: [] }]);
  expect(numbered).toMatchObject({ data: [{ id }] });
  expect(foreign).toMatchObject({ status: 404, code: 'not_found' });
  expect(bad).toMatchObject({ status: 400, code: 'invalid_request', errors: [{ parameter: 'status' }] });
  expect(graphql).toEqual({ data: { invoice: { number: 'INV-2026-1', customer: null } } });
  expect(refused).toMatchObject({ status: 403, required_scope: 'invoices:read' });
  expect(paths).toEqual(['/invoices', '/invoices/{id}']);
}, 240_000);
