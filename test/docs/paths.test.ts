import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { read, ROOT } from './markdown';

/* Each file and folder that a page names exists: code moves on, and pages stay. */

const pagesIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(folder, file));
const PAGES = ['', 'docs', 'docs/decisions', 'docs/guides', 'docs/guides/jobs', 'examples', 'deploy'].flatMap(pagesIn);

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

const NAMED = PAGES.flatMap((page) => [...new Set(pathsIn(read(page)))].map((path) => ({ page, path })));

test.each(NAMED)('$page: $path exists', ({ path }) => {
  expect(exists(path)).toBe(true);
});

test('what ARCHITECTURE.md shows as a tree exists', () => {
  const [, tree = ''] = /^```\n([\s\S]*?)^```/m.exec(read('ARCHITECTURE.md')) ?? [];
  const folders: string[] = [];
  const shown: string[] = [];
  for (const line of tree.split('\n')) {
    const [, indent = '', name] = /^( *)([\w-]+(?:\/[\w.-]*)*\/|[\w./-]+\.\w+)(?= |$)/.exec(line) ?? [];
    // lines that go on are indented further than any name
    if (name === undefined || indent.length > 6) continue;
    const depth = indent.length / 2;
    folders.length = depth;
    const path = join(...folders, name);
    if (name.endsWith('/')) folders[depth] = name;
    shown.push(path);
  }
  expect(shown.length).toBeGreaterThan(40);
  expect(shown.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
