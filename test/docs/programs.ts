import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandServer } from '../support/commandServer';

/* Programs that replace those on the pages. */

/** A folder for PATH with `npm run -s scopegate -- …`, which is run by a command server, and `jq -r`, which knows a path, perhaps after a select. */
export async function writePrograms({ socket }: Pick<CommandServer, 'socket'>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'scopegate-docs-'));
  // without building and loading the program for each call
  await writeProgram(
    folder,
    'npm',
    `#!/usr/bin/env node
const order = { args: process.argv.slice(6), environment: process.env, cwd: process.cwd() };
const socket = require('net').connect(${JSON.stringify(socket)}).end(JSON.stringify(order));
require('stream/consumers').json(socket).then(({ code, stdout, stderr }) => {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code ?? 1;
});\n`,
  );
  // in case jq is not installed
  await writeProgram(
    folder,
    'jq',
    `#!/usr/bin/env node
const text = require('fs').readFileSync(0, 'utf8');
const [, condition = '', path] = /^(?:select\\((.+)\\) \\| )?(.+)$/.exec(process.argv[3]);
const of = (value, code) => Function('value', 'return value' + code)(value);
const values = condition ? text.trim().split('\\n').map((line) => JSON.parse(line)) : [JSON.parse(text)];
for (const value of values) if (of(value, condition)) console.log(of(value, path));\n`,
  );
  return folder;
}

export function writeProgram(folder: string, name: string, text: string): Promise<void> {
  return writeFile(join(folder, name), text, { mode: 0o755 });
}
