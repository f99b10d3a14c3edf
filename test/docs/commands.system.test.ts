import { rm } from 'node:fs/promises';
import { run } from '../packages/examples/run';
import { client } from '../support/client';
import { makeKey, makeNorthwind } from '../support/factories';
import { startCommandServer } from '../support/commandServer';
import { late, served } from '../support/gateway';
import { type Block, blocksOf, PAGES, RECEIVERS, WALKED } from './markdown';
import { writeProgram, writePrograms } from './programs';

/*
 * Runs every command of the pages, each page in one shell from top to bottom, against a gateway with the Northwind data.
 * The gateway's URL, curl's options and the built command line are replaced.
 */

const gateway = served();
const commands = late(startCommandServer);
let key: string;
let programs: string;

beforeAll(async () => {
  ({ key } = await makeKey(gateway, await makeNorthwind(gateway)));
  programs = await writePrograms(commands);
  await writeProgram(programs, 'curl', `#!/bin/bash\nexec $(type -aP curl | sed -n 2p) -sS --fail-with-body "$@"\n`);
});
afterAll(async () => {
  await commands.stop();
  await rm(programs, { recursive: true });
});

const RUN = PAGES.filter((page) => page !== WALKED && page !== RECEIVERS)
  .map((page) => ({ page, blocks: blocksOf(page).filter(isRun) }))
  .filter(({ blocks }) => blocks.length > 0);

function isRun({ language, reason }: Block): boolean {
  return language === 'sh' && reason === undefined;
}

test.each(RUN)('the commands in $page work as written', async ({ blocks }) => {
  const script = [
    'set -euo pipefail',
    ...blocks.map(({ line, text }) => `echo "== line ${String(line)}"\n${text}\necho`),
  ];
  const output = await run('bash', ['-c', script.join('\n').replaceAll('http://127.0.0.1:4000', gateway.url)], {
    env: {
      PATH: `${programs}:${process.env.PATH ?? ''}`,
      KEY: key,
      MONGODB_URI: process.env.TEST_MONGODB_URI ?? '',
      CONTROL_DATABASE: 'scopegate_docs',
      NODE_NO_WARNINGS: '1',
    },
  });
  expect(output).toContain(`== line ${String(blocks.at(-1)?.line)}`);
  // GraphQL returns errors with status 200
  expect(output).not.toContain('{"errors":');
});

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
  expect(RUN.flatMap(({ blocks }) => blocks).length).toBeGreaterThan(10);
});
