import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeVariables } from '../src/config';
import { ROOT } from './facts';

/* npm run docs: writes the table of environment variables into the README, from the configuration itself. */

const README = join(ROOT, 'README.md');
const MARKED = /(<!-- environment:.*?-->\n)[\s\S]*?(<!-- \/environment -->)/;

/** The README with the table as the configuration has it today. */
export function withEnvironment(readme: string): string {
  const rows = describeVariables().map(
    ({ name, fallback, help }) => `| \`${name}\` | ${fallback} | ${help.replaceAll('|', '\\|')} |`,
  );
  const table = ['', '| variable | default | |', '|---|---|---|', ...rows, '', ''].join('\n');
  if (!MARKED.test(readme)) throw new Error('README.md has no place for the environment');
  return readme.replace(MARKED, (_all, start: string, end: string) => start + table + end);
}

if (require.main === module) writeFileSync(README, withEnvironment(readFileSync(README, 'utf8')));
