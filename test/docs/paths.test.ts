import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DOCUMENTED, pagesIn, read, ROOT } from './markdown';

/* Each file and folder that a page names exists: code moves on, and pages stay. */

const foldersIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder)).filter((name) => statSync(join(ROOT, folder, name)).isDirectory());
/** What a path may begin with: pages leave out src/ and test/. */
const FIRST = new Set(['', 'src', 'test'].flatMap(foldersIn));
const ENDINGS = ['', '.ts', '.js', '.test.ts', '.system.test.ts', '.browser.test.ts'];

/** What looks like a path and is none: methods of MCP, and what the guide for contributors has its readers make. */
const OTHERS = /^tools\/(list|call)$|invoices/;

function exists(path: string): boolean {
  return ['', 'src', 'test'].some((folder) => ENDINGS.some((ending) => existsSync(join(ROOT, folder, path + ending))));
}

/** Paths in code, not in blocks; a line number may follow. */
function pathsIn(text: string): string[] {
  const code = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([\w.-]+\/[\w./-]*)(?::\d+)?`/g);
  return [...code]
    .flatMap(([, path]) => path ?? [])
    .filter((path) => FIRST.has(path.split('/')[0] ?? '') && !OTHERS.test(path));
}

const NAMED = pagesIn(...DOCUMENTED, 'examples', 'deploy').flatMap((page) =>
  [...new Set(pathsIn(read(page)))].map((path) => ({ page, path })),
);

test.each(NAMED)('$page: $path exists', ({ path }) => {
  expect(exists(path)).toBe(true);
});

/** The names in the first column of a table of ARCHITECTURE.md. */
function firstColumn(head: string): string[] {
  const [, table = ''] = read('ARCHITECTURE.md').split(`| ${head} `);
  const rows = table
    .split('\n\n')[0]!
    .split('\n')
    .filter((row) => row.startsWith('| `'));
  return rows.flatMap((row) => [...row.split(' | ')[0]!.matchAll(/`([\w-]+)\/?`/g)].map(([, name]) => name!));
}

test('ARCHITECTURE.md names each room of src, each folder beside it, and files that exist', () => {
  const rooms = readdirSync(join(ROOT, 'src')).map((name) => name.replace('.ts', ''));
  expect(firstColumn('room of `src/`').sort()).toEqual(rooms.sort());
  const folders = firstColumn('beside `src/`');
  expect(folders.filter((name) => !existsSync(join(ROOT, name)))).toEqual([]);
  expect(folders.length).toBeGreaterThan(8);
  const files = [...read('ARCHITECTURE.md').matchAll(/`([\w/.-]+\.(?:ts|graphql|mjs|md))`/g)].map(([, path]) => path!);
  const isThere = (path: string): boolean =>
    ['', 'src', 'docs', 'schema', 'src/gateway'].some((folder) => existsSync(join(ROOT, folder, path)));
  expect(files.filter((path) => !isThere(path))).toEqual([]);
  expect(files.length).toBeGreaterThan(8);
});
