import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PROGRAM as BUILT } from '../../support/built';
import { ROOT, run } from '../examples/run';
import { blocksOf } from '../../docs/markdown';
import { amounts } from './amounts';
import { answering, page } from './answers';
import type { Language } from './calling';
import { calls } from './calls';
import { live } from './live';
import { installTypescript } from './packages';
import { streams } from './streams';
import { webhooks } from './webhooks';

/* clients/typescript, packed and installed. */

let folder: string;
const README = 'clients/typescript/README.md';
const DRIVER = 'driver.mjs';
const bin = (name: string): string => join(ROOT, 'node_modules', '.bin', name);
const language: Language = {
  name: 'typescript',
  command: () => process.execPath,
  driver: () => join(folder, DRIVER),
};

beforeAll(async () => {
  await mkdir(join(ROOT, '.cache'), { recursive: true });
  folder = await mkdtemp(join(ROOT, '.cache', 'client-'));
  await installTypescript(folder);
  await cp(join(__dirname, DRIVER), join(folder, DRIVER));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

calls(language);
streams(language);
webhooks(language);
amounts(language);
live(language, { language: 'ts', page: README, ending: '.mts', args: ['--import', 'tsx'] });

test('the archive has exactly the files it needs, and can be bundled for browsers', async () => {
  const archive = join(folder, 'node_modules', '@scopegate', 'client');
  const files = await readdir(archive, { recursive: true });
  const others = files.filter((file) => !/^dist(\/\w+(\.d\.ts|\.js))?$/.test(file)).sort();
  expect(others).toEqual(['LICENSE', 'README.md', 'package.json']);
  const options = ['--bundle', '--platform=browser', '--format=esm', '--log-level=warning'];
  const bundled = await run(bin('esbuild'), options, { cwd: folder, input: "export * from '@scopegate/client'" });
  expect(bundled).toContain('Scopegate = class');
});

describe('a signal', () => {
  const scene = answering(language);
  const PROGRAM = `
    import { Scopegate } from '@scopegate/client';
    let ended;
    const abortAfter = (ms) => setTimeout(() => ended.abort('enough'), ms).unref();
    const api = new Scopegate({ key: 'key', url: process.argv[2], onRetry: () => abortAfter(50) });
    for (const work of [
      (signal) => api.get('/me', { signal }),
      (signal) => api.get('/me', { signal }),
      (signal) => api.events({ signal }).next(),
      (signal) => api.events({ signal }).next(),
      (signal) => api.events({ signal: AbortSignal.abort(signal.reason ?? 'enough') }).next(),
    ]) {
      ended = new AbortController();
      // a request of this process may take long to leave a busy machine
      const timer = abortAfter(6000);
      console.log(await work(ended.signal).catch((reason) => reason));
      clearTimeout(timer);
    }`;

  test('aborts a call or a stream with its reason, during an attempt and during a wait', async () => {
    const wait = page(503, { 'retry-after': '600' });
    scene.answers = [() => undefined, wait, () => undefined, wait];
    await writeFile(join(folder, 'signal.mjs'), PROGRAM);
    expect(await run(process.execPath, [join(folder, 'signal.mjs'), scene.url()])).toBe('enough\n'.repeat(5));
    expect(scene.arrived()).toHaveLength(4);
  });
});

/** Each line compiles, unless the line before says that it fails. */
const PROGRAM = `
import { Scopegate, type Body, type Query, type Row, type Schemas } from '@scopegate/client';
const api = new Scopegate({ key: 'k', url: 'u' });
const me: Schemas['Me'] = await api.get('/me');
const order: Schemas['Order'] = await api.get('/orders/{id}', { path: { id: me.key.prefix }, query: { include: ['customer'] } });
const minor: number = order.total_minor;
const { data, etag } = await api.read('/customers/{id}', { path: { id: 'x' } });
await api.patch('/customers/{id}', { path: { id: data.id }, body: { name: 'Ann', email: null }, ifMatch: etag });
const body: Body<'post', '/products/bulk'> = { products: [{ sku: 'A' }] };
const { failed } = await api.post('/products/bulk', { body, idempotencyKey: 'x' });
const query: Query<'/orders'> = { status: ['completed'], sort: '-placed_at' };
for await (const row of api.list('/orders', { query })) { const one: Row<'/orders'> = row; const total: number = one.total_minor + failed + minor; }
for await (const message of api.list('/requests/{id}/messages', { path: { id: 'x' } })) message.body.trim();
for await (const event of api.events({ after: 'x', types: ['order.created'] })) event.cursor.trim();
const { orders } = await api.graphql<{ orders: { has_more: boolean } }>('{ orders { has_more } }');
// @ts-expect-error no such path
await api.get('/nothing');
// @ts-expect-error an id is needed
await api.get('/orders/{id}');
// @ts-expect-error no such status
api.list('/orders', { query: { status: ['done'] } });
// @ts-expect-error no such filter
api.list('/orders', { query: { colour: 'red' } });
// @ts-expect-error the feed does not end
api.list('/events');
// @ts-expect-error not a list
api.list('/me');
// @ts-expect-error no such member
order.colour.trim();
// @ts-expect-error an amount is a number
await api.patch('/products/{id}', { path: { id: 'x' }, body: { unit_price_minor: '7' } });
// @ts-expect-error products cannot be posted one by one
await api.post('/products', { body: {} });
`;

/** After the guide's program with the types of a schema of one's own. */
const OWN = `
const body: Body<'post', '/invoices/bulk', paths> = { invoices: [{ number: 'I-1' }] };
const { results } = await api.post('/invoices/bulk', { body });
const one: Row<'/invoices', paths> = (await api.get('/invoices', { query: { limit: 1 } })).data[0]!;
const total: number = one.total_minor + results.length;
// what the folder adds to a type of ours
for await (const quote of api.list('/quotes')) quote.project_code?.trim();
// @ts-expect-error no such status
api.list('/invoices', { query: { status: ['done'] } });
// @ts-expect-error no such member
one.colour.trim();
// @ts-expect-error no such path
await api.get('/nothing');
// @ts-expect-error ours have no invoices
new Scopegate().list('/invoices');
`;

/** Writes the types of a folder that `schema init` wrote, as the guide says. */
async function writeOwnTypes(): Promise<void> {
  const schema = join(folder, 'schema');
  await run(process.execPath, [BUILT, 'schema', 'init', schema]);
  const document = await run(process.execPath, [BUILT, 'openapi'], { env: { SCHEMA_DIR: schema } });
  await writeFile(join(folder, 'openapi.json'), document);
  await run(bin('openapi-typescript'), ['openapi.json', '--output', 'scopegate.ts'], { cwd: folder });
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
}

test('routes, filters, bodies and results have the types of the OpenAPI document, ours or that of a schema of your own', async () => {
  await writeOwnTypes();
  const [readme] = blocksOf(README).filter((block) => block.language === 'ts');
  const [guide] = blocksOf('docs/guides/schema.md').filter((block) => block.language === 'ts');
  const own = `import type { Body, Row } from '@scopegate/client';\n${guide!.text}\n${OWN}`;
  const programs = Object.entries({ 'program.mts': PROGRAM, 'readme.mts': readme!.text, 'own.mts': own });
  for (const [name, text] of programs) await writeFile(join(folder, name), text);
  const files = programs.map(([name]) => join(folder, name));
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--target', 'es2022', '--module', 'nodenext'];
  await run(bin('tsc'), [...strict, '--types', 'node', ...files]);
});
