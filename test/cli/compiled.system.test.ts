import { execFileSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newFolder } from './commandLine';

const COMPILED = join(__dirname, '..', 'support', 'compiled.cjs');

/** A program that says what it is given, in a folder of its own. */
async function edited() {
  const folder = await newFolder();
  const program = join(folder, 'program.js');
  const run = (says: string, ...flags: string[]): string => {
    writeFileSync(program, `console.log(${JSON.stringify(says)});`);
    const load = `require(${JSON.stringify(COMPILED)})(${JSON.stringify(program)})`;
    return execFileSync(process.execPath, [...flags, '-e', load], { encoding: 'utf8' }).trim();
  };
  return { run, kept: () => readdirSync(folder).filter((name) => name.endsWith('.cache')) };
}

test('a program that was edited runs as edited, even if its length is the same, and one compiled program is kept', async () => {
  const { run, kept } = await edited();
  for (const says of ['one', 'one', 'two', 'one']) expect(run(says)).toBe(says);
  expect(kept()).toHaveLength(1);
});

test('what a process with other flags compiled, which V8 would not take, is kept beside the other', async () => {
  const { run, kept } = await edited();
  for (const flags of [[], ['--expose-gc'], []]) expect(run('one', ...flags)).toBe('one');
  expect(kept()).toHaveLength(2);
});
