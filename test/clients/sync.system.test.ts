import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, run } from '../examples/run';
import { installSync } from './packages';

/* clients/sync, packed and installed; test/examples/productSync.system.test.ts runs it. */

let folder: string;

beforeAll(async () => {
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  folder = await mkdtemp(join(ROOT, '.cache', 'sync-'));
  await installSync(folder);
}, 120_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test("the archive has exactly the files it needs, the API's version and the project's licence, and loads no other package", async () => {
  const archive = join(folder, 'node_modules', '@scopegate', 'sync');
  const files = await readdir(archive, { recursive: true });
  const others = files.filter((file) => !/^dist(\/\w+(\.d\.ts|\.js))?$/.test(file)).sort();
  expect(others).toEqual(['LICENSE', 'README.md', 'package.json']);
  const read = (...path: string[]): Promise<string> => readFile(join(...path), 'utf8');
  const { info } = JSON.parse(await read(ROOT, 'openapi.json')) as { info: { version: string } };
  const { version, dependencies } = JSON.parse(await read(archive, 'package.json')) as Record<string, unknown>;
  expect([version, dependencies]).toEqual([info.version, undefined]);
  expect(await read(archive, 'LICENSE')).toBe(await read(ROOT, 'LICENSE'));
  const input = "export * from '@scopegate/sync'";
  const options = ['--bundle', '--platform=node', '--format=esm', '--log-level=warning'];
  const bundled = await run(join(ROOT, 'node_modules', '.bin', 'esbuild'), options, { cwd: folder, input });
  expect([...bundled.matchAll(/from "(?!node:)(.+)"/g)]).toEqual([]);
});
