import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { type CommandLine, commandLine, NORTHWIND } from './commandLine';

/* A folder of the user's schema on the command line. All but the last test need no database: the address of theirs is refused. */

const NOWHERE = { MONGODB_URI: 'mongodb://127.0.0.1:1/?directConnection=true&serverSelectionTimeoutMS=100' };
/** Commands that read no folder. */
const plain = commandLine(NOWHERE);
const cli = alone(plain);

/** Runs each command in a process of its own, since a process reads the schema once. */
function alone(line: CommandLine) {
  const spawned = (...args: string[]) => line.spawned(...args);
  return {
    run: spawned,
    async failed(...args: string[]): Promise<string> {
      const { code, stderr } = await spawned(...args);
      expect(code).toBe(1);
      return stderr;
    },
  };
}

let folder: string;
beforeAll(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'scopegate-own-')), 'schema');
  const { code, stdout } = await plain.run('schema', 'init', folder);
  expect([code, stdout]).toEqual([0, expect.stringContaining(`Next: SCHEMA_DIR=${folder} npx scopegate demo`)]);
});
afterAll(() => rm(join(folder, '..'), { recursive: true }));

const edit = async (file: string, text: string): Promise<string> => {
  const other = await mkdtemp(join(folder, '..', 'other-'));
  await cp(folder, other, { recursive: true });
  await writeFile(join(other, file), text);
  return other;
};

test('init writes a folder that is valid and has each kind of file, and overwrites nothing', async () => {
  expect((await readdir(folder)).toSorted()).toEqual([
    ...['README.md', 'examples', 'invoices.graphql', 'invoicesBulk.graphql', 'quotes.graphql', 'rules.mjs'],
  ]);
  expect(await cli.run('schema', 'check', folder)).toMatchObject({ code: 0, stdout: `${folder} is valid\n` });
  expect(await plain.failed(1, 'schema', 'init', folder)).toContain('is not empty');
  expect(await plain.failed(1, 'schema', 'init', 'none')).toContain('SCHEMA_DIR=none means no folder; name another');
});

/** One that keeps the schema from being read, and one in what is loaded; test/unit/ownSchema*.test.ts have all others. */
const MISTAKES: readonly (readonly [file: string, text: string, sentence: string])[] = [
  ['more.graphql', '\nextend type Quote {', 'more.graphql:2: Syntax Error'],
  ['rules.mjs', '\nexport const Bill = () => {};', 'rules.mjs:2: exports Bill, which is not a type with @stored'],
];

test.each(MISTAKES)('in %s, %j is said by check, and keeps commands from using it', async (file, text, sentence) => {
  const wrong = await edit(file, text);
  const checked = await cli.run('schema', 'check', wrong);
  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain(sentence);
  const own = alone(commandLine({ ...NOWHERE, SCHEMA_DIR: wrong }));
  for (const args of [['doctor'], ['schema', 'print']])
    expect(await own.failed(...args)).toMatch(/invalid schema:|Syntax Error/);
  expect(await cli.failed('serve', '--schema', wrong)).toContain(sentence);
});

test('an example that a rule fails on is said by check, and keeps the demo from storing it, but no other command from using the folder', async () => {
  const wrong = await edit('rules.mjs', 'export const Invoice = ({ lines }) => lines.length;');
  const sentence = 'invoices.json: the rule of Invoice threw TypeError';
  expect((await cli.run('schema', 'check', wrong)).stdout).toContain(sentence);
  expect(await cli.failed('demo', '--schema', wrong)).toContain(sentence);
  expect(await alone(commandLine({ ...NOWHERE, SCHEMA_DIR: wrong })).run('schema')).toMatchObject({ code: 0 });
});

test('check names files as the folder is named, of all kinds at once, and export default once', async () => {
  const wrong = await edit('rules.mjs', '\nexport default 1;');
  await writeFile(join(wrong, 'more.graphql'), 'extend type Quote { note: Strin }');
  const within = relative(process.cwd(), wrong);
  const { stdout } = await cli.run('schema', 'check', within);
  expect(stdout.trimEnd().split('\n')).toEqual([
    expect.stringMatching(/more\.graphql:1: Unknown type "Strin"/),
    expect.stringMatching(/rules\.mjs:2: has export default/),
  ]);
  for (const line of stdout.trimEnd().split('\n')) expect(line.startsWith(`${within}/`)).toBe(true);
});

test('SCHEMA_DIR is followed by what prints the schema, what is stored, and scopes', async () => {
  const own = alone(commandLine({ ...NOWHERE, SCHEMA_DIR: folder }));
  expect((await own.run('schema')).stdout).toContain('project_code: String');
  expect(JSON.parse((await own.run('schema', '--stored')).stdout)).toHaveProperty('invoices.properties.due_on');
  const { paths } = JSON.parse((await own.run('openapi')).stdout) as { paths: object };
  expect(Object.keys(paths)).toContain('/invoices/{id}');
  expect((await own.run('key', 'create', '--help')).stdout).toContain('invoices:write');
  expect((await plain.run('key', 'create', '--help')).stdout).not.toContain('invoices:write');
});

test('diff says what breaks callers and what does not', async () => {
  const { stdout: served } = await plain.run('schema', '--directives');
  const file = join(folder, '..', 'served.graphql');
  await writeFile(file, served);
  const { stdout } = await cli.run('schema', 'diff', folder, '--against', file, '--json');
  const added = JSON.parse(stdout) as { breaking: string[]; safe: string[] };
  expect(added.breaking).toEqual([]);
  expect(added.safe).toEqual(expect.arrayContaining(['Quote.project_code was added.', 'Invoice was added.']));
  const [quotes, invoices] = await Promise.all(
    ['quotes', 'invoices'].map((file) => readFile(join(folder, `${file}.graphql`), 'utf8')),
  );
  const changed = await edit('quotes.graphql', quotes!.replace(/negotiating/, 'waiting'));
  await writeFile(join(changed, 'invoices.graphql'), invoices!.replace('path: "/invoices"', 'path: "/bills"'));
  const broken = await cli.run('schema', 'diff', changed, '--against', folder);
  expect(broken.code).toBe(1);
  expect(broken.stdout.split('\n').filter((line) => line.startsWith('breaking'))).toEqual([
    'breaking  negotiating was removed from enum type QuoteStatus.',
    'breaking  Query.invoices: @rest was GET /invoices, is GET /bills.',
  ]);
});

test('diff refuses a folder that is wrong in an example only, names a file that cannot be parsed, and says what a file without directives lacks', async () => {
  const unreadable = join(folder, '..', 'unreadable.graphql');
  await writeFile(unreadable, 'type Query {\n  a: }\n');
  const failure = await cli.failed('schema', 'diff', folder, '--against', unreadable);
  expect(failure).toContain(`${unreadable}:2: Syntax Error: Expected Name, found "}".`);
  const wrong = await edit('examples/invoices.json', '{}');
  expect(await cli.failed('schema', 'diff', wrong, '--against', folder)).toContain('/id: is required');
  const file = join(folder, '..', 'types.graphql');
  const { stdout: types } = await alone(commandLine({ ...NOWHERE, SCHEMA_DIR: folder })).run('schema');
  await writeFile(file, types);
  const { code, stdout } = await cli.run('schema', 'diff', folder, '--against', file);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^no change\ntypes only: .* schema --directives\n$/)]);
});

test('check --data names rows that the folder no longer allows, and reads them by the folder that is named', async () => {
  const database = commandLine();
  const withFolder = alone(commandLine({ ...database.environment, SCHEMA_DIR: folder }));
  const { id } = await database.json<{ id: string }>('org', 'create', '--name', 'Own');
  const files = await mkdtemp(join(folder, '..', 'files-'));
  const [line = ''] = (await readFile(join(NORTHWIND, 'quotes.ndjson'), 'utf8')).split('\n');
  const quote = {
    ...(JSON.parse(line) as object),
    status: 'negotiating',
    sent_at: '1996-07-01T00:00:00.000Z',
    decided_at: null,
  };
  await writeFile(join(files, 'quotes.ndjson'), JSON.stringify(quote));
  expect(await withFolder.run('import', files, '--org', id)).toMatchObject({ code: 0 });
  const check = async (dir: string): Promise<string> => {
    const { stdout } = await alone(database).run('schema', 'check', dir, '--data', '--json');
    return stdout;
  };
  expect(JSON.parse(await check(folder))).toMatchObject({ ok: true, rows: 1, found: [] });
  const fault = { pointer: '/status', code: 'not_allowed' };
  const without = await edit('quotes.graphql', 'extend type Quote { size: Int }');
  expect(JSON.parse(await check(without))).toMatchObject({
    ok: false,
    left: 1,
    found: [{ collection: 'quotes', fault }],
  });
});
