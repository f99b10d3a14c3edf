import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../examples/run';
import { client } from '../support/client';
import { makeKey, makeNorthwind } from '../support/factories';
import { type CommandServer, startCommandServer } from '../support/commandServer';
import { startGateway, type TestGateway } from '../support/gateway';
import { type Block, blocksOf, PAGES } from './markdown';

/*
 * Runs every command of the pages, each page in one shell from top to bottom, against a gateway with the Northwind data.
 * The gateway's URL, curl's options and the built command line are replaced.
 */

let gateway: TestGateway;
let key: string;
let programs: string;
let commands: CommandServer;

beforeAll(async () => {
  gateway = await startGateway();
  ({ key } = await makeKey(gateway, await makeNorthwind(gateway)));
  programs = await mkdtemp(join(tmpdir(), 'scopegate-docs-'));
  await mkdir(join(programs, 'bin'));
  const program = (name: string, text: string): Promise<void> =>
    writeFile(join(programs, 'bin', name), text, { mode: 0o755 });
  commands = await startCommandServer();
  // npm run -s scopegate -- …, without building and loading the program for each call
  await program(
    'npm',
    `#!/usr/bin/env node
const order = { args: process.argv.slice(6), environment: process.env, cwd: process.cwd() };
const socket = require('net').connect(${JSON.stringify(commands.socket)}).end(JSON.stringify(order));
require('stream/consumers').json(socket).then(({ code, stdout, stderr }) => {
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  process.exitCode = code ?? 1;
});\n`,
  );
  await program('curl', `#!/bin/bash\nexec $(type -aP curl | sed -n 2p) -sS --fail-with-body "$@"\n`);
  // jq -r, in case jq is not installed
  await program(
    'jq',
    `#!/usr/bin/env node\nconsole.log(Function('value', 'return value' + process.argv[3])(JSON.parse(require('fs').readFileSync(0, 'utf8'))));\n`,
  );
});
afterAll(async () => {
  await gateway.stop();
  await commands.stop();
  await rm(programs, { recursive: true });
});

const RUN = PAGES.map((page) => ({ page, blocks: blocksOf(page).filter(isRun) })).filter(
  ({ blocks }) => blocks.length > 0,
);

function isRun({ language, reason }: Block): boolean {
  return language === 'sh' && reason === undefined;
}

test.each(RUN)(
  'the commands in $page work as written',
  async ({ blocks }) => {
    const script = [
      'set -euo pipefail',
      ...blocks.map(({ line, text }) => `echo "== line ${String(line)}"\n${text}\necho`),
    ];
    const output = await run('bash', ['-c', script.join('\n').replaceAll('http://127.0.0.1:4000', gateway.url)], {
      env: {
        PATH: `${join(programs, 'bin')}:${process.env.PATH ?? ''}`,
        KEY: key,
        MONGODB_URI: process.env.TEST_MONGODB_URI ?? '',
        CONTROL_DATABASE: 'scopegate_docs',
        NODE_NO_WARNINGS: '1',
      },
    });
    expect(output).toContain(`== line ${String(blocks.at(-1)?.line)}`);
    // GraphQL returns errors with status 200
    expect(output).not.toContain('{"errors":');
  },
  300_000,
);

test.each(
  PAGES.flatMap(blocksOf)
    .filter(({ language, before }) => language === 'graphql' && !before.startsWith('`'))
    .map((block) => ({ ...block, where: `${block.page}:${String(block.line)}` })),
)('the query at $where returns data and no errors', async ({ text }) => {
  const { body } = await client(gateway, key).graphql(text);
  expect(body.errors).toBeUndefined();
  for (const value of Object.values(body.data as Record<string, { data: unknown[] }>)) {
    expect(value.data.length).toBeGreaterThan(0);
  }
});

test('every command that is not run states a reason', () => {
  const idle = PAGES.flatMap(blocksOf).filter((block) => block.language === 'sh' && !isRun(block));
  for (const { reason = '' } of idle) expect(reason.length).toBeGreaterThan(10);
  expect(RUN.flatMap(({ blocks }) => blocks).length).toBeGreaterThan(15);
});
