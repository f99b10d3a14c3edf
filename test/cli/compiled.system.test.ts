import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './commandLine';

const COMPILED = join(__dirname, '..', 'support', 'compiled.cjs');

test('a program that was edited runs as edited, even if its length is the same, and one compiled program is kept', async () => {
  const folder = await newFolder();
  const program = join(folder, 'program.js');
  const run = (says: string): string => {
    writeFileSync(program, `console.log(${JSON.stringify(says)});`);
    const load = `require(${JSON.stringify(COMPILED)})(${JSON.stringify(program)})`;
    return execFileSync(process.execPath, ['-e', load], { encoding: 'utf8' }).trim();
  };
  for (const says of ['one', 'one', 'two', 'one']) expect(run(says)).toBe(says);
  expect(readdirSync(folder).filter((name) => name.endsWith('.cache'))).toHaveLength(1);
});
