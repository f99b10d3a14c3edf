import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commandLine, makeOrganisation } from './commandLine';

/* A member that is never null and has a default is added to a type that has rows. */

const TEMPLATE = join(__dirname, '..', '..', 'examples', 'schema');
const ADDED = `
  "Whether a reminder was sent."
  reminded: Boolean! @default(value: false)
  "Currency of the fee."
  fee_currency: String! @constraint(pattern: "^[A-Z]{3}$") @default(from: ORGANISATION_CURRENCY)
  "Due date."
  due_on: Date
  "Id of the customer."
  customer_id: ID
`;
const PLACE = /\n {2}"Due date\."\n {2}due_on: Date\n {2}"Id of the customer\."\n {2}customer_id: ID\n/;

let [folder, later]: [string, string] = ['', ''];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scopegate-later-'));
  later = join(folder, 'schema');
  await cp(TEMPLATE, later, { recursive: true });
  const text = await readFile(join(later, 'invoices.graphql'), 'utf8');
  await writeFile(join(later, 'invoices.graphql'), text.replace(PLACE, ADDED));
  const example = join(later, 'examples', 'invoices.json');
  const whole = { ...(JSON.parse(await readFile(example, 'utf8')) as object), reminded: true, fee_currency: 'USD' };
  await writeFile(example, JSON.stringify(whole));
});
afterAll(() => rm(folder, { recursive: true }));

test('doctor --rows --fix fills it in where rows lack it, and so does an import of a file from before', async () => {
  const cli = commandLine();
  const { id } = await makeOrganisation(cli);
  const [before, after] = [TEMPLATE, later].map((SCHEMA_DIR) => commandLine({ ...cli.environment, SCHEMA_DIR }));
  const run = async (line: typeof cli, ...args: string[]): Promise<Record<string, unknown>> => {
    const { code, stdout, stderr } = await line.spawned(...args, '--json');
    if (stdout === '') throw new Error(stderr);
    return { ...(JSON.parse(stdout) as Record<string, unknown>), code };
  };
  const files = join(folder, 'files');
  const example = JSON.parse(await readFile(join(TEMPLATE, 'examples', 'invoices.json'), 'utf8')) as object;
  const record = JSON.stringify({ ...example, customer_id: null });
  await writeFile(join(folder, 'invoices.ndjson'), record);
  await run(before!, 'import', '--org', id, join(folder, 'invoices.ndjson'));
  await run(before!, 'export', '--org', id, files);

  const found = [{ collection: 'invoices', fault: null, members: ['fee_currency', 'reminded'], fixed: false }];
  expect(await run(after!, 'doctor', '--rows')).toMatchObject({ code: 1, left: 1, found: sorted(found) });
  expect(await run(after!, 'doctor', '--rows', '--fix')).toMatchObject({ code: 0, left: 0, fixed: 1 });
  expect(await run(after!, 'doctor', '--rows')).toMatchObject({ code: 0, left: 0, fixed: 0 });
  expect(await run(after!, 'import', '--org', id, join(files, 'invoices.ndjson'), '--stamp', 'now')).toMatchObject({
    code: 0,
    files: { invoices: { unchanged: 1, failed: 0 } },
  });
  const other = await run(after!, 'org', 'create', '--name', 'Other', '--currency', 'EUR');
  expect(await run(after!, 'import', '--org', String(other.id), join(files, 'invoices.ndjson'))).toMatchObject({
    code: 0,
    files: { invoices: { created: 1, failed: 0 } },
  });
  await run(after!, 'export', '--org', String(other.id), join(later, 'again'));
  const [line = ''] = (await readFile(join(later, 'again', 'invoices.ndjson'), 'utf8')).split('\n');
  expect(JSON.parse(line)).toMatchObject({ reminded: false, fee_currency: 'EUR' });
});

const sorted = (found: readonly { members: readonly string[] }[]) =>
  found.map((one) => ({ ...one, members: expect.arrayContaining([...one.members]) }));
