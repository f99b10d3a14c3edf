import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { commandLine, makeKey, makeOrganisation, newFolder, NORTHWIND } from '../../cli/commandLine';
import { type Json } from '../../support/client';
import { shardOfAny } from '../../support/differences';
import { northwind } from '../../support/factories';
import { driver } from '../../support/gateway';

/* `org create --sandbox-of`, `org reset`, `sandbox advance`, and what other commands make of a sandbox. */

const cli = commandLine();
const bare = driver();

interface Made {
  readonly id: string;
  readonly name: string;
}

async function makeSandbox(name: string, ...options: string[]): Promise<{ owner: Made; sandbox: Made }> {
  const owner = await makeOrganisation(cli, name);
  return { owner, sandbox: await cli.json<Made>('org', 'create', '--sandbox-of', owner.id, ...options) };
}

/** The files of an organisation's export. */
async function exported(id: string): Promise<(file: string) => Promise<Json[]>> {
  const folder = join(await newFolder(), 'export');
  await cli.json('export', '--org', id, folder);
  return async (file) => {
    const text = await readFile(join(folder, `${file}.ndjson`), 'utf8');
    return text.split('\n').flatMap((line): Json => (line === '' ? [] : JSON.parse(line)));
  };
}

test('a sandbox has the name, plan and currency of its organisation, names it, and has the sample if --seed is given', async () => {
  const { owner, sandbox } = await makeSandbox('Acme', '--seed', 'northwind');
  const shown = {
    id: sandbox.id,
    name: 'Acme sandbox',
    plan: 'integrations',
    shard: await shardOfAny(bare),
    state: 'active',
  };
  expect(sandbox).toMatchObject({ ...shown, sandbox_of: owner.id, external_ref: null });
  expect(await cli.json('org', 'show', sandbox.id)).toMatchObject({ sandbox_of: owner.id });
  const files = await exported(sandbox.id);
  for (const file of ['products', 'customers', 'quotes', 'orders', 'requests'])
    expect({ file, rows: (await files(file)).length }).toEqual({ file, rows: northwind(file).length });
  expect(await (await exported(owner.id))('products')).toEqual([]);
});

test.each([
  [['--sandbox-of', 'ID', '--plan', 'starter'], 2, 'cannot be used with'],
  [['--sandbox-of', 'ID', '--currency', 'EUR'], 2, 'cannot be used with'],
  [['--name', 'A', '--seed', 'northwind'], 2, '--seed needs --sandbox-of'],
  [[], 2, '--name is required, unless --sandbox-of is given'],
])('org create %j is refused', async (args, code, said) => {
  const { id } = await makeOrganisation(cli, 'Owner');
  const given = args.map((one) => (one === 'ID' ? id : one));
  expect(await cli.failed(code, 'org', 'create', ...given)).toContain(said);
});

test('reset empties a sandbox except for its keys and loads the sample; other organisations are refused', async () => {
  const { owner, sandbox } = await makeSandbox('Reset');
  const { key } = await makeKey(cli, sandbox.id);
  expect(key).toMatch(/^svc_test_/);
  await cli.json('import', '--org', sandbox.id, join(NORTHWIND, 'products.ndjson'));
  const changed = { ...northwind('products')[0], name: 'Changed', sku: 'MINE', id: crypto.randomUUID() };
  const file = join(await newFolder(), 'products.ndjson');
  await writeFile(file, `${JSON.stringify(changed)}\n`);
  await cli.json('import', '--org', sandbox.id, file);
  const began = Date.now() - 1000;
  expect(await cli.json('org', 'reset', sandbox.id)).toEqual({ id: sandbox.id, reset: true });
  const files = await exported(sandbox.id);
  const products = await files('products');
  const sample = northwind('products').sort((one, other) => (one.id < other.id ? -1 : 1));
  expect(products).toEqual(sample.map((row) => ({ ...row, updated_at: expect.any(String) })));
  // so that who follows them with updated_since sees them again, threads among them
  for (const { updated_at } of [...products, ...(await files('requests'))])
    expect(Date.parse(updated_at as string)).toBeGreaterThan(began);
  expect(await files('orders')).toHaveLength(northwind('orders').length);
  expect(await cli.json('key', 'list', '--org', sandbox.id)).toMatchObject([{ state: 'active' }]);
  expect(await cli.failed(1, 'org', 'reset', owner.id)).toContain(`its sandbox is ${sandbox.id}`);
  const actions = await cli.json<{ action: string }[]>('audit', '--org', sandbox.id, '--action', 'sandbox.reset');
  expect(actions).toHaveLength(1);
});

describe('advance', () => {
  const quotes = northwind('quotes');
  const sent = quotes.find(({ status }) => status === 'sent') as Json;
  const scene = (async () => {
    const made = await makeSandbox('Advance');
    const folder = await newFolder();
    const few = {
      customers: northwind('customers'),
      quotes: quotes.filter((row, at) => at === 0 || row === sent),
      orders: northwind('orders').slice(0, 1),
    };
    for (const [file, rows] of Object.entries(few))
      await writeFile(join(folder, `${file}.ndjson`), rows.map((row) => JSON.stringify(row)).join('\n'));
    await cli.json('import', '--org', made.sandbox.id, folder);
    return made;
  })();
  const advance = async (...args: string[]): Promise<Json> =>
    cli.json('sandbox', 'advance', '--org', (await scene).sandbox.id, ...args);
  const stored = async (file: string, number: string): Promise<Json> =>
    (await (await exported((await scene).sandbox.id))(file)).find((row: Json) => row.number === number);

  test('a quote is accepted, which sets decided_at, and sent again, which removes it', async () => {
    const { number, sent_at, id } = sent;
    expect(await advance('quote', number, 'accepted')).toEqual({ id, number, status: 'accepted', from: 'sent' });
    const accepted = await stored('quotes', number);
    expect(accepted).toMatchObject({ status: 'accepted', sent_at });
    expect(Math.abs(Date.parse(accepted.decided_at) - Date.now())).toBeLessThan(60_000);
    expect(accepted.updated_at).toBe(accepted.decided_at);
    expect(await advance('quote', number, 'accepted')).toMatchObject({ from: 'accepted' });
    await advance('quote', number, 'sent');
    expect(await stored('quotes', number)).toMatchObject({ status: 'sent', decided_at: null });
  });

  test('an order is dispatched', async () => {
    const { number } = northwind('orders')[0] as Json;
    await advance('order', number, 'confirmed');
    expect(await stored('orders', number)).toMatchObject({ status: 'confirmed', dispatched_at: null });
    await advance('order', number, 'dispatched');
    expect((await stored('orders', number)).dispatched_at).toEqual(expect.any(String));
  });

  test('an unknown status, an unknown number and live data are refused', async () => {
    const { owner, sandbox } = await scene;
    const { number } = quotes[0] as Json;
    const refused = (code: number, org: string, ...args: string[]): Promise<string> =>
      cli.failed(code, 'sandbox', 'advance', '--org', org, 'quote', ...args);
    expect(await refused(2, sandbox.id, number, 'paid')).toContain('status: must be one of');
    expect(await refused(1, sandbox.id, 'Q-0', 'sent')).toContain('there is no quote Q-0; see GET /api/v1/quotes');
    expect(await refused(1, owner.id, number, 'sent')).toContain('is not a sandbox: it holds live data');
  });
});

test('a sandbox is erased with its organisation, and by itself', async () => {
  const first = await makeSandbox('Erased');
  const { id: key } = await makeKey(cli, first.sandbox.id);
  await cli.json('org', 'erase', first.owner.id, '--confirm', 'Erased', '--no-export');
  expect(await cli.failed(1, 'org', 'show', first.sandbox.id)).toContain('not found');
  expect(await cli.failed(1, 'key', 'show', key)).toContain('not found');
  const second = await makeSandbox('Kept');
  await cli.json('org', 'erase', second.sandbox.id, '--confirm', 'Kept sandbox', '--no-export');
  expect(await cli.json('org', 'show', second.owner.id)).toMatchObject({ state: 'active' });
  // and another one can be made
  expect(await cli.json('org', 'create', '--sandbox-of', second.owner.id)).toMatchObject({
    sandbox_of: second.owner.id,
  });
});

test('an import does not change the plan of a sandbox', async () => {
  const owner = await cli.json<Made>('org', 'create', '--name', 'Starter', '--plan', 'starter');
  const sandbox = await cli.json<Made>('org', 'create', '--sandbox-of', owner.id);
  const folder = await newFolder();
  for (const file of ['organisation.json', 'products.ndjson'])
    await copyFile(join(NORTHWIND, file), join(folder, file));
  await cli.json('import', '--org', sandbox.id, folder, '--organisation');
  expect(await cli.json('org', 'show', sandbox.id)).toMatchObject({ plan: 'starter', name: 'Northwind Traders' });
});
