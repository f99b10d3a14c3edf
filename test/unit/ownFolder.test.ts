import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ownErrors } from '../../src/schema/own/check';
import { blocksOf } from '../docs/markdown';
import { eachWithTemplate, TEMPLATE } from '../support/templateFolder';

/* The folder of a user: what init writes, and which files it may have. */

let folder: string;
eachWithTemplate((copy) => {
  folder = copy;
});

test('the folder that init writes has none', () => {
  expect(ownErrors(folder)).toEqual([]);
});

test('the guide shows the files that init writes', () => {
  const shown = blocksOf('docs/guides/schema.md').filter(({ language }) => ['graphql', 'js'].includes(language));
  expect(shown.map(({ before }) => before)).toEqual(['`quotes.graphql`:', '`rules.mjs`:']);
  for (const { before, text } of shown)
    expect(readFileSync(join(TEMPLATE, before.replaceAll(/[`:]/g, '')), 'utf8')).toContain(text);
});

test('a folder that is not there, and one without a schema', () => {
  expect(ownErrors(join(folder, 'none'))).toEqual([expect.stringContaining('is not a folder that can be read')]);
  expect(ownErrors(join(folder, 'examples'))).toEqual([expect.stringContaining('has no file *.graphql')]);
});

test('each file that cannot be read, such as a link that leads nowhere', () => {
  const [link, broken] = ['a.graphql', 'b.graphql'].map((file) => join(folder, file));
  symlinkSync(join(folder, 'gone.graphql'), link!);
  writeFileSync(broken!, '\ntype {');
  expect(ownErrors(folder)).toEqual([
    expect.stringMatching(`^${link!}: ENOENT`),
    expect.stringMatching(`^${broken!}:2: Syntax Error`),
  ]);
});

test('SCHEMA_DIR=none is no folder, until a command names one', async () => {
  jest.resetModules();
  process.env.SCHEMA_DIR = 'none';
  const { isWithoutFolder, useFolder } = await import('../../src/sdl/folder.js');
  expect(isWithoutFolder()).toBe(true);
  useFolder(folder);
  expect(isWithoutFolder()).toBe(false);
});

test.each([
  ['quotes.gql', 'is not read: the folder has *.graphql, rules.mjs, examples/ and *.md'],
  ['rules.js', 'is not read'],
  ['rules.ts', 'is not read'],
])('a file %s is without effect', (file, sentence) => {
  writeFileSync(join(folder, file), '');
  expect(ownErrors(folder)).toEqual([expect.stringContaining(`${join(folder, file)}: ${sentence}`)]);
});

test('hidden files and documents are no mistake', () => {
  for (const file of ['.gitignore', '._quotes.graphql', 'NOTES.md']) writeFileSync(join(folder, file), '{');
  expect(ownErrors(folder)).toEqual([]);
});
