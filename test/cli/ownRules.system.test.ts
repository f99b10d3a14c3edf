import { randomUUID } from 'node:crypto';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../api/http/eventually';
import { commandLine, makeOrganisation, serve } from './commandLine';

/* Mistakes in rules of the user cost the objects that they are run on, and neither their neighbours nor the gateway. */

const TEMPLATE = join(__dirname, '..', '..', 'examples', 'schema');
const TOKEN = 'operator'.repeat(5);

const RULES = `
const check = async (text) => { throw new Error(text); };
export const Invoice = ({ number, status, due_on }, { fault }) => {
  if (number === 'returned') return check('returned by a rule');
  if (number === 'left') check('left behind by a rule');
  if (number === 'later') setTimeout(() => { throw new Error('thrown later'); });
  if (number === 'no errors') { setTimeout(() => { throw 'a text thrown later'; }); void Promise.reject('a text left behind'); }
  if (number === 'pointer') fault('due_on', 'must be set');
  if (number === 'thrown' || status === 'paid') due_on.slice(0, 10);
};
`;

/** What the rule throws, as operators are told. */
const THROWN = "the rule of Invoice threw TypeError: Cannot read properties of null (reading 'slice')";
const FOR_KEYS = 'could not be checked, since the rule of Invoice failed; the log of the gateway says why';

let around: string;
let folder: string;
beforeAll(async () => {
  around = await mkdtemp(join(tmpdir(), 'scopegate-rules-'));
  const real = join(around, 'real');
  await cp(TEMPLATE, real, { recursive: true });
  await writeFile(join(real, 'rules.mjs'), RULES);
  folder = join(around, 'linked');
  await symlink(real, folder);
});
afterAll(() => rm(around, { recursive: true }));

interface Result {
  readonly outcome: string;
  readonly errors: readonly unknown[];
}

test('a rule that throws, returns or leaves a promise, throws later or calls fault wrongly fails its own objects alone, and the log names it', async () => {
  const cli = commandLine({ SCHEMA_DIR: folder, OPERATOR_TOKENS: `test=${TOKEN}` });
  const { id: organisation } = await makeOrganisation(cli);
  const args = ['--org', organisation, '--name', 'k', '--scopes', 'all', '--json'];
  // in a process of its own, which reads the schema of the folder
  const { stdout } = await cli.spawned('key', 'create', ...args);
  const { key } = JSON.parse(stdout) as { key: string };
  const gateway = await serve(cli);
  const call = async (method: string, path: string, body: string, authorization = `Bearer ${key}`) => {
    const type = path.startsWith('/operator') ? 'x-ndjson' : 'json';
    const headers = { authorization, 'content-type': `application/${type}` };
    const response = await fetch(`${gateway.url}${path}`, { method, headers, body });
    return { status: response.status, text: await response.text() };
  };
  const bulk = (numbers: readonly string[], more: object = {}) => {
    const invoices = numbers.map((number) => ({ number, total_minor: 1 }));
    return call('POST', '/api/v1/invoices/bulk', JSON.stringify({ invoices, ...more }));
  };
  const failedAt = (index: number, detail: string) => ({
    outcome: 'failed',
    errors: [{ pointer: `/invoices/${String(index)}`, code: 'rule', detail }],
  });

  const many = await bulk(['before', 'thrown', 'returned', 'pointer', 'left', 'later', 'no errors', 'after']);
  expect(many.status).toBe(200);
  const { results } = JSON.parse(many.text) as { results: ({ id: string } & Result)[] };
  const created = { outcome: 'created', errors: [] };
  expect(results).toMatchObject([
    created,
    ...[1, 2, 3].map((index) => failedAt(index, FOR_KEYS)),
    ...[created, created, created, created],
  ]);
  expect(many.text).not.toContain('TypeError');
  await eventually(() =>
    ['"level":50.*rule left.*a text thrown later', 'thrown later.*rules'].every((text) =>
      new RegExp(text).test(gateway.stderr()),
    ),
  );

  const ofRule = { status: 500, code: 'internal', errors: [{ code: 'rule', detail: FOR_KEYS }] };
  const atomic = await bulk(['another', 'thrown'], { atomic: true });
  expect(JSON.parse(atomic.text)).toMatchObject(ofRule);
  const patched = await call('PATCH', `/api/v1/invoices/${String(results[0]?.id)}`, '{"status":"paid"}');
  expect(JSON.parse(patched.text)).toMatchObject({ ...ofRule, detail: `the body: ${FOR_KEYS}` });

  const lines = ['first', 'thrown', 'last'].map((number) =>
    JSON.stringify({ organisation, type: 'invoice', put: { number, total_minor: 1 } }),
  );
  const written = await call('POST', '/operator/v1/writes', lines.join('\n'), `Bearer ${TOKEN}`);
  expect(
    written.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Result),
  ).toMatchObject([
    created,
    { type: 'invoice', outcome: 'failed', errors: [{ pointer: '/put', code: 'rule', detail: THROWN }] },
    created,
  ]);

  const file = await readFile(join(folder, 'examples', 'invoices.json'), 'utf8');
  const example = { ...(JSON.parse(file) as object), customer_id: null };
  const records = [example, { ...example, id: randomUUID(), number: 'thrown', due_on: null }];
  const exported = await mkdtemp(join(folder, '..', 'scopegate-import-'));
  await writeFile(join(exported, 'invoices.ndjson'), records.map((record) => JSON.stringify(record)).join('\n'));
  const imported = await cli.spawned('import', exported, '--org', organisation);
  await rm(exported, { recursive: true });
  expect([imported.code, imported.stdout + imported.stderr]).toEqual([1, expect.stringContaining(THROWN)]);

  const log = gateway.stderr();
  const failures = log.split('\n').filter((line) => line.includes('"the rule of Invoice failed"'));
  expect(failures.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      level: 50,
      type: 'Invoice',
      file: join(folder, 'rules.mjs'),
      error: expect.objectContaining({ type: 'TypeError', stack: expect.stringContaining('rules.mjs:9') }),
    }),
  ]);
  for (const text of ['left behind by a rule', 'thrown later'])
    expect(log).toMatch(new RegExp(`"level":50.*a rule left an error behind.*${text}.*rules\\.mjs:`));
  for (const text of ['a text thrown later', 'a text left behind'])
    expect(log).toMatch(new RegExp(`"level":50.*a rule left an error behind.*${text}`));
  expect((await gateway.stop()).code).toBe(0);
});
