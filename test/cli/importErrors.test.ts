import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { recordKinds } from '../../src/resources';
import { commandLine, importText, makeOrganisation, newFolder, NORTHWIND, northwindLines } from './commandLine';

/* What `import` refuses, and how it says so. */

const cli = commandLine();

test('invalid lines are reported by file and line, valid ones are imported, and the exit code is 1', async () => {
  const { id: org } = await makeOrganisation(cli, 'Bad lines');
  const [one = '', two = '', three = ''] = await northwindLines('products.ndjson', 3);
  const bad = {
    2: 'not json',
    3: '[1]',
    5: two.replace('"sku": "NW-002"', '"sku": ""').replace('"vat_exempt": true', '"vat_exempt": "yes"'),
    6: two.replace('}', ', "colour": "red"}'),
    7: one.replace('"Chai"', '"Chai again"'),
    8: one.replace(/"id": "[^"]*"/, '"id": "99999999-4477-5b15-966e-4830b650ded3"'),
  };
  const text = [one, bad[2], bad[3], '', bad[5], bad[6], bad[7], bad[8], two, ''].join('\n');
  const invalid = Buffer.concat([Buffer.from(text), Buffer.from([0xff, 0x7b, 0x0a]), Buffer.from(three)]);

  const { code, stderr, answer } = await importText(cli, org, invalid);
  expect(code).toBe(1);
  expect(answer.files).toEqual({ products: { read: 10, created: 3, updated: 0, unchanged: 0, failed: 7 } });
  expect(answer.errors.map(({ line, pointer, code: kind }) => [line, pointer, kind])).toEqual([
    [2, '', 'json'],
    [3, '', 'type'],
    [5, '/sku', 'length'],
    [5, '/vat_exempt', 'type'],
    [6, '/colour', 'unknown'],
    [7, '/id', 'duplicate'],
    [8, '/sku', 'conflict'],
    [10, '', 'encoding'],
  ]);
  for (const { file, line, pointer, detail } of answer.errors) {
    expect(file).toBe('products.ndjson');
    expect(stderr).toContain(`products.ndjson:${String(line)}: ${pointer === '' ? '' : `${pointer}: `}${detail}`);
  }
  const again = await importText(cli, org, invalid);
  expect(again.answer.files.products).toEqual({ read: 10, created: 0, updated: 0, unchanged: 3, failed: 7 });
  expect(again.answer.errors).toEqual(answer.errors);
});

/** Lines with one change each. */
const changed = (lines: readonly string[], ...changes: readonly (readonly [string | RegExp, string])[]): string[] =>
  changes.map((change, at) => (lines[at] ?? lines[0] ?? '').replace(...change));
const same = ([line = '']: readonly string[], count: number): string[] => Array.from({ length: count }, () => line);

test.each<[string, string, (lines: string[]) => string[], object[]]>([
  [
    'a date after the year 9999, a duplicate member, and a lone surrogate, which cannot be stored',
    'products',
    (lines) =>
      changed(
        same(lines, 3),
        [/"created_at": "[^"]+"/, '"created_at": "9999-12-31T23:59:59-12:00"'],
        ['"name": ', '"name": "Tea", "name": '],
        ['"Chai"', String.raw`"Chai \ud83d"`],
      ),
    [
      { line: 1, pointer: '/created_at', code: 'format' },
      { line: 2, pointer: '/name', code: 'duplicate' },
      { line: 3, pointer: '/name', code: 'format' },
    ],
  ],
  [
    'numbers that JSON cannot give back, and quantities out of range, but not bounds',
    'orders',
    (lines) =>
      ['1e400', '-1e400', '-0.5', '1000000001', '0', '1e9'].map((qty, at) =>
        (lines[at] ?? '').replace(/"qty": [\d.]+/, `"qty": ${qty}`),
      ),
    [
      { line: 1, pointer: '/lines/0/qty', code: 'range', detail: 'is beyond the largest number, about 1.8e308' },
      { line: 2, pointer: '/lines/0/qty', code: 'range' },
      { line: 3, pointer: '/lines/0/qty', code: 'range', detail: 'must be >= 0' },
      { line: 4, pointer: '/lines/0/qty', code: 'range', detail: 'must be <= 1000000000' },
    ],
  ],
  [
    'control characters, blank names and unknown currencies, but not a historic currency',
    'products',
    (lines) =>
      changed(
        lines,
        ['"Chai"', String.raw`"Chai\u0000\u001b[2J"`],
        ['"Chang"', '" \u00a0"'],
        ['"NW-003"', String.raw`"\t"`],
        ['"USD"', '"XYZ"'],
        ['"USD"', '"DEM"'],
        ['"each"', String.raw`"e\u009bch"`],
      ),
    [
      { line: 1, pointer: '/name', code: 'format' },
      { line: 2, pointer: '/name', code: 'length' },
      { line: 3, pointer: '/sku', code: 'length' },
      { line: 4, pointer: '/currency', code: 'format' },
      { line: 6, pointer: '/uom', code: 'format' },
    ],
  ],
  [
    'wrong totals, positions and states',
    'quotes',
    (lines) =>
      changed(
        same(lines, 3),
        ['"total_minor": 44000', '"total_minor": 44001'],
        ['"accepted"', '"draft"'],
        ['"position": 1', '"position": 5'],
      ),
    [
      { line: 1, pointer: '/total_minor' },
      { line: 2, pointer: '/decided_at' },
      { line: 3, pointer: '/lines/1/position' },
    ],
  ],
  [
    'a second primary contact',
    'customers',
    ([customer = '']) => {
      const { contacts, ...others } = JSON.parse(customer) as { contacts: object[] };
      const twice = contacts.slice(0, 1).flatMap((contact) => [
        { ...contact, primary: true },
        { ...contact, id: '99999999-4477-5b15-966e-4830b650ded3', primary: true },
      ]);
      return [JSON.stringify({ ...others, contacts: twice }), customer];
    },
    [{ line: 1, pointer: '/contacts/1/primary', code: 'duplicate' }],
  ],
  [
    'two lines with one id',
    'orders',
    ([order = '']) => {
      const { lines, ...others } = JSON.parse(order) as { lines: { id: string }[] };
      return [JSON.stringify({ ...others, lines: lines.map((line) => ({ ...line, id: lines[0]?.id })) }), order];
    },
    [1, 2].map((line) => ({ line: 1, pointer: `/lines/${String(line)}/id`, code: 'duplicate' })),
  ],
  [
    'a message of another thread',
    'requests',
    ([thread = '']) => [thread, thread.replace(/"id": "[^"]*"/, '"id": "99999999-4477-5b15-966e-4830b650ded3"')],
    [
      { line: 2, pointer: '/messages/0/id', code: 'conflict' },
      { line: 2, pointer: '/messages/1/id', code: 'conflict' },
    ],
  ],
])('rejects %s, and stores the other lines', async (_what, kind, change, errors) => {
  const { id: org } = await makeOrganisation(cli, 'Rejected');
  const lines = change(await northwindLines(`${kind}.ndjson`, 6));
  const { code, answer, stderr } = await importText(cli, org, lines.join('\n'), `${kind}.ndjson`);
  expect({ code, errors: answer.errors }).toMatchObject({ code: 1, errors });
  const failed = new Set(answer.errors.map(({ line }) => line)).size;
  expect(answer.files[kind]).toMatchObject({ created: lines.length - failed, failed });
  expect(stderr).not.toContain('\u001b[2J');
});

test('a path with nothing to import is an error that lists the expected files', async () => {
  const { id: org } = await makeOrganisation(cli, 'Nothing');
  const folder = await newFolder();
  const fail = (code: number, path: string) => cli.failed(code, 'import', '--org', org, path);
  expect(await fail(1, folder)).toContain(recordKinds.map(({ file }) => `${file}.ndjson`).join(', '));
  expect(await fail(1, join(folder, 'missing'))).toContain('no such file or folder');
  await fail(2, join(NORTHWIND, 'organisation.json'));
});

test('a file of a folder that is of no type is named at the end, and those that are have been imported', async () => {
  const { id: org } = await makeOrganisation(cli, 'Unknown');
  const folder = await newFolder();
  await writeFile(join(folder, 'products.ndjson'), (await northwindLines('products.ndjson', 1)).join('\n'));
  for (const name of ['customer.ndjson', 'invoices.ndjson', 'keys.ndjson', 'notes.txt'])
    await writeFile(join(folder, name), '{}');
  const { code, stderr, stdout } = await cli.run('import', '--org', org, folder, '--json');
  expect([code, JSON.parse(stdout)]).toMatchObject([0, { files: { products: { created: 1 } } }]);
  expect(stderr).toMatch(
    /not imported, as no type has such a file .*SCHEMA_DIR.*: customer\.ndjson, invoices\.ndjson$/m,
  );
});

test('error messages escape control characters from the file', async () => {
  const { id } = await makeOrganisation(cli, 'Hostile');
  const path = join(await newFolder(), 'products.ndjson');
  const hostile = '\u001b]0;title\u0007\u009b2J';
  await writeFile(path, [JSON.stringify({ [hostile]: 1 }), `{"sku": "a", \u001b[2J`, hostile].join('\n'));
  const { code, stderr } = await cli.run('import', '--org', id, path);
  expect(code).toBe(1);
  expect(stderr).toContain('\\u001b');
  expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test('a fingerprint in keys.ndjson whose hash is no 32 bytes is an error that says so, and nothing is stored', async () => {
  const { id } = await makeOrganisation(cli);
  const folder = await newFolder();
  const salt = Buffer.alloc(16).toString('base64');
  const hash = Buffer.alloc(31).toString('base64');
  await writeFile(join(folder, 'keys.ndjson'), JSON.stringify({ pepper: { salt, hash } }));
  expect(await cli.failed(1, 'import', '--org', id, folder, '--keys')).toContain(
    'keys.ndjson:1: is not the fingerprint of a pepper (/pepper/hash must be 32 bytes in base64); nothing was stored',
  );
});
