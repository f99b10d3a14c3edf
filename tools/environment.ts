import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeVariables } from '../src/config';
import { restOperations } from '../src/rest/routes/routes';
import { publishedSchemas } from '../src/published';
import { ROOT } from './facts';

/* npm run docs: writes into the README what is known elsewhere: the environment variables, and how many operations there are. */

const README = join(ROOT, 'README.md');
const OPERATIONS = /(<!-- operations -->)\d*(<!-- \/operations -->)/;
const MARKED = /(<!-- environment:.*?-->\n)[\s\S]*?(<!-- \/environment -->)/;

/** The README as the configuration and the schema have it today. */
export function generated(readme: string): string {
  return withOperations(withEnvironment(readme));
}

function withOperations(readme: string): string {
  const count = restOperations(publishedSchemas().operations).length;
  if (!OPERATIONS.test(readme)) throw new Error('README.md has no place for the number of operations');
  return readme.replace(OPERATIONS, (_all, start: string, end: string) => start + String(count) + end);
}

function withEnvironment(readme: string): string {
  const rows = describeVariables().map(
    ({ name, fallback, help }) => `| \`${name}\` | ${fallback} | ${help.replaceAll('|', '\\|')} |`,
  );
  const table = ['', '| variable | default | |', '|---|---|---|', ...rows, '', ''].join('\n');
  if (!MARKED.test(readme)) throw new Error('README.md has no place for the environment');
  return readme.replace(MARKED, (_all, start: string, end: string) => start + table + end);
}

if (require.main === module) writeFileSync(README, generated(readFileSync(README, 'utf8')));
