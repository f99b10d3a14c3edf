import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeVariables } from '../src/config';
import { restOperations } from '../src/rest/routes/routes';
import { publishedSchemas } from '../src/published';
import { ROOT } from './facts';

/* npm run docs: updates the generated parts of the README: the environment variables and the number of operations. */

const README = join(ROOT, 'README.md');
const OPERATIONS = /(<!-- operations -->)\d*(<!-- \/operations -->)/;
const MARKED = /(<!-- environment:.*?-->\n)[\s\S]*?(<!-- \/environment -->)/;

/** The README with its generated parts up to date. */
export function generated(readme: string): string {
  return withOperations(withEnvironment(readme));
}

function withOperations(readme: string): string {
  const count = restOperations(publishedSchemas().operations).length;
  if (!OPERATIONS.test(readme)) throw new Error('README.md has no <!-- operations --> marker');
  return readme.replace(OPERATIONS, (_all, start: string, end: string) => start + String(count) + end);
}

function withEnvironment(readme: string): string {
  const rows = describeVariables().map(
    ({ name, fallback, help }) => `| \`${name}\` | ${fallback} | ${help.replaceAll('|', '\\|')} |`,
  );
  const table = ['', '| variable | default | |', '|---|---|---|', ...rows, '', ''].join('\n');
  if (!MARKED.test(readme)) throw new Error('README.md has no <!-- environment --> marker');
  return readme.replace(MARKED, (_all, start: string, end: string) => start + table + end);
}

if (require.main === module) writeFileSync(README, generated(readFileSync(README, 'utf8')));
