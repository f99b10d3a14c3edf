import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { freePort } from '../../faults/processes';
import { type OwnDatabase, startDatabase } from '../operations/database';
import { PROGRAM } from '../support/built';
import { type CommandServer, startCommandServer } from '../support/commandServer';
import { blocksOf, patternOf, ROOT, WALKED } from './markdown';
import { writePrograms } from './programs';
import { openShell, type Shell } from './shell';

/*
 * Walks the guide for operators from an empty folder on, in one shell, with a database of its own, and compares what the
 * commands print with what it shows. Only addresses are replaced, and the program is built and loaded once.
 */

const BLOCKS = blocksOf(WALKED);
/** How commands that need a program other than Node begin, or that install one. */
const ABSENT = /^(docker |kubectl |mongodump |mongosh |git |mkdir -p data\/main\s)/;
/** Number of blocks that need one of them. */
const IDLE = 9;

let folder: string;
let programs: string;
let commands: CommandServer;
let shell: Shell;
let database: OwnDatabase | undefined;
/** The guide's addresses and those used here. */
let addresses: readonly (readonly [string, string])[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scopegate-walk-'));
  database = await startDatabase();
  // what its commands without mongod would have left
  await mkdir(join(folder, 'data'));
  await writeFile(join(folder, 'data', 'main.pid'), `${String(database.pid)}\n`);
  await symlink(dirname(PROGRAM), join(folder, 'dist'));
  await symlink(join(ROOT, 'examples'), join(folder, 'examples'));
  const ports: [string, string][] = [];
  for (const port of ['4001', '4002', '9401', '9402']) ports.push([port, String(await freePort())]);
  addresses = [
    ['mongodb://127.0.0.1:27017/?replicaSet=rs0', database.uri],
    ['127.0.0.1:27017', new URL(database.uri).host],
    ...ports,
  ];
  commands = await startCommandServer();
  programs = await writePrograms(commands);
  const { PATH = '', HOME = '' } = process.env;
  shell = openShell(programs, folder, { PATH: `${programs}:${PATH}`, HOME, NODE_NO_WARNINGS: '1' });
});
afterAll(async () => {
  database?.release();
  for (const file of (await readdir(folder)).filter((name) => /^gateway-.*\.pid$/.test(name))) {
    try {
      process.kill(Number(await readFile(join(folder, file), 'utf8')), 'SIGTERM');
    } catch {
      // it has stopped
    }
  }
  await shell.stop();
  await commands.stop();
  await database?.stop();
  for (const made of [folder, programs]) await rm(made, { recursive: true });
});

const SECTIONS = [...new Set(BLOCKS.filter(isRun).map(({ section }) => section))];

test.each(SECTIONS)('%s', async (section) => {
  for (const block of BLOCKS.filter((one) => one.section === section && isRun(one))) {
    const printed = replaced(
      await shell.run(replaced(block.text, ([there, here]) => [there, here])),
      ([there, here]) => [here, there],
    );
    const shown = BLOCKS[BLOCKS.indexOf(block) + 1];
    // the next one may be of another section
    if (shown?.language === 'text' && shown.section === section)
      expect(`${trimmed(printed)}\n`).toMatch(patternOf(shown.text));
  }
});

test('only commands that need an unavailable program are not run, and their number is fixed', () => {
  const idle = BLOCKS.filter(({ language, reason }) => language === 'sh' && reason !== undefined);
  for (const { text } of idle) expect(text).toMatch(ABSENT);
  expect(idle).toHaveLength(IDLE);
  expect(BLOCKS.filter(isRun).length).toBeGreaterThan(25);
  expect(BLOCKS.filter(({ language }) => language === 'text').length).toBeGreaterThan(12);
  expect(SECTIONS.at(-1)).toMatch(/^Erase /);
});

function isRun({ language, reason }: (typeof BLOCKS)[number]): boolean {
  return language === 'sh' && reason === undefined;
}

function replaced(text: string, of: (pair: readonly [string, string]) => readonly [string, string]): string {
  const all = new Map(addresses.map(of));
  const found = [...all.keys()].map((key) => key.replaceAll(/[.?+]/g, '\\$&')).join('|');
  // all at once, and no port inside another
  return text.replaceAll(new RegExp(`(?<!\\d)(?:${found})(?!\\d)`, 'g'), (one) => all.get(one) ?? one);
}

function trimmed(text: string): string {
  return text.replaceAll(/[ \t]+$/gm, '').replace(/\n+$/, '');
}
