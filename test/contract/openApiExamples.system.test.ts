import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../examples/run';
import { DOCUMENT } from '../support/built';

const ROOT = join(__dirname, '..', '..');
/** Inside the repository, so that installed packages are found. */
const CACHE = join(ROOT, '.cache');

test('the program and its document, which a server that starts builds too, need nothing from examples/', async () => {
  await mkdir(CACHE, { recursive: true });
  const copy = await mkdtemp(join(CACHE, 'bare-'));
  try {
    for (const part of ['src', 'schema', 'public', 'package.json', 'tsconfig.json'])
      await cp(join(ROOT, part), join(copy, part), { recursive: true });
    const tsx = join(ROOT, 'node_modules', '.bin', 'tsx');
    const written = await run(tsx, [join('src', 'main.ts'), 'openapi'], { cwd: copy });
    expect(JSON.parse(written)).toEqual(JSON.parse(await readFile(DOCUMENT, 'utf8')));
  } finally {
    await rm(copy, { recursive: true });
  }
});
