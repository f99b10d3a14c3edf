import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Organisation } from '../../../src/auth/principal';
import type { Scope } from '../../../src/auth/scopes';
import { databaseName } from '../../../src/mongo/databaseNames';
import type { EventRow } from '../../../src/events/collection';
import { positionOf, timeDigits } from '../../../src/events/position';
import { eraseCustomer } from '../../../src/resources/eraseCustomer';
import type { ImportRecord } from '../../../src/stored/records';
import { blocksOf, read, ROOT } from '../../docs/markdown';
import { eventually } from '../../api/http/eventually';
import { type Client, client, type Json, readAll } from '../../support/client';
import { makeKey, makeStored, northwind, store } from '../../support/factories';
import { driver, served } from '../../support/gateway';
import { byId, LANGUAGES, working } from './jobs';

/* The programs of the guide's jobs, each checked by what it leaves behind, and killed at its worst moments. */

const ENVIRONMENT = { CONTROL_DATABASE: `scopegate_jobs_${randomUUID().slice(0, 8)}`, EVENTS: 'on' };
const PATIENCE = 30_000;
jest.setTimeout(120_000);

const gateway = served(ENVIRONMENT);
afterAll(() => bare.db(ENVIRONMENT.CONTROL_DATABASE).dropDatabase());
// as the product that owns quotes and orders
const bare = driver();

interface Scene {
  readonly organisation: Organisation;
  readonly key: string;
  readonly caller: Client;
  readonly rows: (collection: string) => ReturnType<ReturnType<typeof bare.db>['collection']>;
}

/** An organisation with these records, a key with the scopes that a job's page names, and a caller who may everything. */
async function scene(job: string, records: Record<string, readonly ImportRecord[]>): Promise<Scene> {
  // those after a semicolon are for more than the program
  const [, named = ''] = /^- Scopes: ([^;\n]+)/m.exec(read(`docs/guides/jobs/${job}.md`)) ?? [];
  const scopes = [...named.matchAll(/`(\w+:\w+)`/g)].map(([, scope]) => scope as Scope);
  const organisation = await makeStored(gateway, records);
  const [{ key }, all] = await Promise.all([
    makeKey(gateway, organisation, { scopes }),
    makeKey(gateway, organisation),
  ]);
  const db = bare.db(databaseName(organisation.id));
  return { organisation, key, caller: client(gateway, all.key), rows: (name) => db.collection(name) };
}

const ndjson = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** An event that is before or after all others of the organisation. */
async function addEvent({ rows }: Scene, type: string, at: Date, gap: EventRow['gap']): Promise<void> {
  const _id = positionOf(0, timeDigits({ t: Math.floor(at.getTime() / 1000), i: 1 }), 0) as never;
  await rows('events').insertOne({ _id, type, at, object: null, changes: [], status: null, ...(gap && { gap }) });
}

/** The cursor of one whose program did not run for over a month. */
async function expiredCursor(of: Scene): Promise<string> {
  await addEvent(of, 'feed.gap', new Date(Date.now() - 31 * 86_400_000), undefined);
  const { body } = await of.caller.get('/events', { limit: 1 });
  return body.next_cursor as string;
}

describe.each(LANGUAGES)('in %s', (_language, install) => {
  const { start, ended, killed, file, meet, seen, copy } = working(install, gateway);

  test('a catalogue equals its file, whatever was killed; bad rows are named, and what vanished is inactive', async () => {
    const stored = northwind('products');
    const { key, caller, rows } = await scene('catalogue', { products: stored });
    // as the page says of the sample, and of its one line
    const page = read('docs/guides/jobs/catalogue.md').replaceAll(/\s+/g, ' ');
    const [line] = blocksOf('docs/guides/jobs/catalogue.md').filter(({ language }) => language === 'json');
    const sample = await ended(key, 'catalogue', join(ROOT, 'examples', 'northwind', 'products.ndjson'));
    expect(sample.code).toBe(0);
    await writeFile(file('products.ndjson'), line!.text);
    const alone = await ended(key, 'catalogue');
    expect(alone.code).toBe(1);
    for (const said of [sample.said, ...alone.said.split(/(?<=\n)/)]) expect(page).toContain(`\`${said.trim()}\``);
    await rows('products').deleteOne({ sku: (JSON.parse(line!.text) as Json).sku });
    const [bad, ...kept] = stored
      .slice(0, -5)
      .map(({ id: _id, created_at: _c, updated_at: _u, ...members }) => members);
    const added = Array.from({ length: 960 }, (_, n) => ({ sku: `NEW-${String(n)}`, name: 'New', category: null }));
    const products: Json[] = [
      ...[{ ...bad, unit_price_minor: -1 }, { ...kept[0], unit_price_minor: 12_345 }, ...kept.slice(1)],
      // stored as one character
      ...[{ sku: 'CAFE\u0301', name: 'Coffee' }, ...added],
    ];
    // in another call than the first ones
    const again = [
      { sku: 'CAF\u00c9', name: 'Another' },
      { ...kept[1], name: 'Another' },
    ];
    const faulty = [{ sku: 17, name: 'A number' }, { name: 'Nothing' }, ...again];
    const all = [...products, ...faulty];
    await writeFile(file('products.ndjson'), ndjson(all).slice(0, -2));
    expect(await ended(key, 'catalogue')).toMatchObject({ code: 1, said: expect.stringContaining('nothing was sent') });
    await writeFile(file('products.ndjson'), ndjson(all));
    await killed('after', /bulk/, key, 'catalogue');
    await killed('before', /GET .*active/, key, 'catalogue');
    const last = await ended(key, 'catalogue');
    expect(last.said).toContain(`products.ndjson:1: ${String(bad!.sku)}: unit_price_minor must be`);
    const at = (row: object): string => `products.ndjson:${String(all.indexOf(row) + 1)}`;
    for (const row of faulty.slice(0, 2)) expect(last.said).toContain(`${at(row)}: sku must be a text\n`);
    expect(last.said).toContain(`${at(again[0]!)}: CAF\u00c9: sku is that of ${at(products[72]!)}\n`);
    expect(last.said).toContain(`${at(again[1]!)}: ${String(kept[1]!.sku)}: sku is that of ${at(kept[1]!)}\n`);
    const counts = `0 created, 0 updated, ${String(products.length - 1)} unchanged, 5 failed, 5 deactivated`;
    expect(last).toMatchObject({ code: 1, said: expect.stringContaining(counts) });
    const found = new Map((await readAll(caller, '/products', { limit: 100 })).map((row) => [row.sku, row]));
    const wanted = products.map((row) => (row.sku === bad!.sku ? bad : { ...row, sku: row.sku.normalize('NFC') }));
    expect(found.size).toBe(wanted.length + 5);
    for (const row of wanted) expect(found.get(row.sku)).toMatchObject({ active: true, ...row });
    const vanished = stored.slice(-5).map(({ sku }) => sku);
    for (const sku of vanished) expect(found.get(sku)).toMatchObject({ active: false });
    // whole lines are missing
    await writeFile(file('products.ndjson'), ndjson(products.slice(0, 900)));
    const cut = await ended(key, 'catalogue');
    expect(cut).toMatchObject({ code: 1, said: expect.stringContaining('none was deactivated') });
    expect(cut.said).toContain('0 created, 0 updated, 899 unchanged, 1 failed, 0 deactivated\n');
    await writeFile(file('products.ndjson'), ndjson([{ sku: vanished[0], name: 'Back' }, ...products]));
    await ended(key, 'catalogue');
    const { body } = await caller.get('/products', { sku: vanished[0] });
    expect(body.data).toMatchObject([{ name: 'Back', active: true }]);
  });

  test("a month's CSV has the lines and the sum of its orders to the cent, or is not there", async () => {
    const orders = northwind('orders').slice(0, 70) as Json[];
    const [line] = orders[0].lines;
    const odd = (currency: string, status: string): Json => ({
      ...orders[0],
      id: randomUUID(),
      number: `${currency}-${status}`,
      status,
      currency,
      customer_id: null,
      // 1.005 × 100 is less than 100.5 among floating-point numbers
      lines: [
        { ...line, id: randomUUID(), qty: 1.005, unit_price_minor: 100, discount_pct: 7.5, description: 'a "b",\nc' },
      ],
      subtotal_minor: 101,
      discount_minor: 8,
      vat_minor: 17,
      shipping_minor: 0,
      total_minor: 110,
    });
    const more = [odd('KWD', 'completed'), odd('JPY', 'completed'), odd('USD', 'cancelled')];
    const of = await scene('orders', { customers: northwind('customers'), orders: [...orders, ...more] });
    const name = file('orders-1996-07.csv');
    const written = () => readFile(name, 'utf8').catch(() => undefined);
    for (const month of ['1996-13', '1996-00', '1996-7'])
      expect(await ended(of.key, 'orders', month)).toMatchObject({
        code: 1,
        said: expect.stringContaining('name a month, such as 1996-07'),
      });
    await killed('after', /graphql/, of.key, 'orders', '1996-07');
    expect(await written()).toBeUndefined();
    const late = { ...odd('EUR', 'completed') };
    meet('before', /graphql/, () => store(gateway, of.organisation, { orders: [late] }));
    expect(await ended(of.key, 'orders', '1996-07')).toMatchObject({
      code: 1,
      said: expect.stringContaining('run it again'),
    });
    expect(await written()).toBeUndefined();
    const last = await ended(of.key, 'orders', '1996-07');
    expect(last).toMatchObject({ code: 0, said: expect.stringMatching(/^\d+ orders, USD \d+\.\d\d$/m) });
    expect(last.said).toContain('1 orders, KWD 0.110\n');
    const text = (await written())!;
    const [shown] = blocksOf('docs/guides/jobs/orders.md').filter(({ language }) => language === 'csv');
    for (const part of shown!.text.split('\n')) expect(text).toContain(`${part}\n`);
    const rows = records(text).slice(1);
    const lines = [...orders, ...more.slice(0, 2), late]
      .filter(({ placed_at }) => placed_at < '1996-08')
      .flatMap((one) => one.lines);
    expect(rows.filter(([, , , , , type]) => type === 'line')).toHaveLength(lines.length);
    expect(rows.find(([number]) => number === 'KWD-completed')).toEqual(
      `KWD-completed,${orders[0].placed_at},completed,,KWD,line,${line.sku},TEXT,1.005,0.100,7.5,0.093`
        .split(',')
        .map((value) => (value === 'TEXT' ? 'a "b",\nc' : value)),
    );
    const sums = new Map<string, bigint>();
    for (const row of rows) sums.set(row[4]!, (sums.get(row[4]!) ?? 0n) + BigInt(row[11]!.replace('.', '')));
    const asked = `{ order_totals(group_by: [STATUS], from: "1996-07-01", to: "1996-08-01") { data { currency status total_minor } } }`;
    const totals = (await of.caller.graphql(asked)).body.data.order_totals.data as Json[];
    const wanted = totals.filter(({ status }) => status !== 'cancelled');
    expect(wanted.map(({ currency }) => currency).sort()).toEqual(['EUR', 'JPY', 'KWD', 'USD']);
    for (const { currency, total_minor: total } of wanted)
      expect([currency, sums.get(currency)]).toEqual([currency, BigInt(total)]);
  });

  test('customers are in step both ways: no change of others is lost, none happens twice, and who is erased stays erased', async () => {
    const [one, other, gone] = northwind('customers').slice(0, 3) as Json[];
    const second = { ...one.contacts[0], id: randomUUID(), name: 'Second', primary: false };
    const customers = [{ ...one, contacts: [...one.contacts, second] }, ...northwind('customers').slice(1, 12)];
    const of = await scene('customers', { customers });
    const { caller, key } = of;
    const inStep = async (): Promise<void> => {
      await eventually(async () => {
        expect(await ended(key, 'customers')).toMatchObject({ code: 0 });
        const rows = byId(await readAll(caller, '/customers', { limit: 100 }));
        return (
          JSON.stringify(Object.entries(await copy('customers')).sort()) === JSON.stringify(Object.entries(rows).sort())
        );
      }, PATIENCE);
    };
    await inStep();
    const change = (row: Json, was: unknown, is: string): object => ({
      customer_id: row.id,
      contact_id: row.contacts[0].id,
      member: 'phone',
      was,
      is,
    });
    const { phone } = one.contacts[0];
    await writeFile(file('changes.ndjson'), ndjson([change(one, phone, '1'), change(gone, 'what it never was', '2')]));
    const contacts = [customers[0].contacts[0], { ...second, role: 'Kept' }];
    meet('before', /PATCH/, () => caller.patch(`/customers/${one.id}`, { contacts }));
    // the first is refused with 412
    meet('after', /PATCH/, () => Promise.resolve());
    await killed('after', /PATCH/, key, 'customers');
    const { said } = await ended(key, 'customers');
    expect(said).toMatch(/"1"\} stored already\n/);
    expect(said).toMatch(/refused: somebody else changed it to /);
    const { body } = await caller.get(`/customers/${one.id}`);
    expect(body.contacts).toMatchObject([{ phone: '1' }, { name: 'Second', role: 'Kept' }]);
    expect(seen(/PATCH/)).toHaveLength(2);
    await of.rows('customers').deleteOne({ _id: gone.id });
    const data = gateway.databases.organisationData(of.organisation);
    await eraseCustomer(data, other.id, { by: 'operator', signal: new AbortController().signal });
    await writeFile(
      file('changes.ndjson'),
      ndjson([
        { ...change(one, null, '0'), member: 'fax' },
        change(other, other.contacts[0].phone, '3'),
        change(gone, null, '4'),
      ]),
    );
    const told = await ended(key, 'customers');
    expect(told.said).toContain('refused: a change is of name, role, email, phone, not of fax\n');
    expect(told.said).toMatch(/refused: the customer was erased\n.*refused: There is no such customer/s);
    await inStep();
    expect(JSON.stringify(await copy('customers'))).not.toContain(other.name);
    await caller.patch(`/customers/${one.id}`, { phone: '5' });
    await eventually(async () => {
      const { body: feed } = await caller.get('/events', { object_id: one.id });
      return feed.data.filter(({ changes }: Json) => changes.includes('phone')).length > 0;
    }, PATIENCE);
    await killed('after', /customers\?/, key, 'customers');
    await inStep();
    await writeFile(file('customers/cursor'), await expiredCursor(of));
    await of.rows('customers').deleteOne({ _id: customers[5]!.id });
    await inStep();
  });

  test('customers: a version that is refused again and again, or that has no ETag, ends the program', async () => {
    const [one] = northwind('customers') as [Json];
    const { key, caller } = await scene('customers', { customers: [one] });
    const [{ id: contact_id, phone: was }] = one.contacts;
    await writeFile(
      file('changes.ndjson'),
      ndjson([{ customer_id: one.id, contact_id, member: 'phone', was, is: '1' }]),
    );
    const problem = { code: 'precondition_failed', status: 412, detail: 'Why.', request_id: 'r' };
    for (let times = 0; times < 3; times += 1)
      meet('before', /PATCH/, (response) =>
        response.writeHead(412, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem)),
      );
    expect(await ended(key, 'customers')).toMatchObject({ code: 1, said: expect.stringContaining('etag_refused') });
    expect(seen(/PATCH/)).toHaveLength(3);
    const { text } = await caller.get(`/customers/${one.id}`);
    meet('before', /GET .*customers\//, (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(text),
    );
    expect(await ended(key, 'customers')).toMatchObject({ code: 1, said: expect.stringContaining('without an ETag') });
    expect((await caller.get(`/customers/${one.id}`)).text).toBe(text);
  });

  test('each ticket is one thread of its customer with every message once, whenever it was killed; a faulty message waits alone', async () => {
    const addresses = ['Ann@example.com', 'shared@example.com', 'shared@example.com'];
    const customers = northwind('customers').slice(0, 3) as Json[];
    for (const [n, one] of customers.entries()) one.contacts = [{ ...one.contacts[0], email: addresses[n] }];
    const { key, caller } = await scene('helpdesk', { customers });
    const ann = { ticket: 'T-17', name: 'Ann', email: 'ann@example.com' };
    const inbox = [
      { id: 'm-1', ...ann, text: 'Where is my order?' },
      { id: 'm-2', ...ann, text: 'It is SO-10248.' },
      { id: 'm-3', ticket: 'T-17', author: 'organisation', name: 'Sales', text: 'On its way.' },
      { id: 'm-4', ticket: 'T-18', name: 'Bob', text: 'Are you open?' },
      { id: 'm-5', ticket: 'T-17', close: true },
      { id: 'm-6', ticket: 'T-18', author: 'organisation', name: 'Sales', text: 'Until six.' },
      { id: 'm-7', ticket: 'T-19', email: 'shared@example.com', text: 'Who am I?' },
    ];
    const huge = { id: 'm-0', ticket: 'T-21', email: 'eve@example.com', text: 'x'.repeat(2 ** 20) };
    const [eve, stray] = [
      { id: 'm-8', ticket: 'T-20', name: 'Eve', email: 'eve@example.com', text: 'Hello?' },
      { id: 'm-9', ticket: 'T-20', author: 'organisation', name: 'Sales', text: 'Hello.' },
    ];
    await writeFile(file('inbox.ndjson'), ndjson(inbox));
    await killed('after', /POST .*requests$/, key, 'helpdesk');
    await writeFile(file('inbox.ndjson'), ndjson([huge, { ...eve, email: 'eve at example.com' }, stray, ...inbox]));
    // the address belongs to nobody when the program starts again
    await caller.patch(`/customers/${customers[0]!.id}`, { contacts: [] });
    await killed('after', /POST .*messages/, key, 'helpdesk');
    await killed('after', /PATCH/, key, 'helpdesk');
    await ended(key, 'helpdesk');
    const faulty = await ended(key, 'helpdesk');
    expect(faulty.code).toBe(1);
    expect(faulty.said).toMatch(/^m-0: .*\nm-8: \/contact\/email: .*\nm-9: no thread has the external_ref T-20\n$/);
    inbox.push(eve, stray);
    await writeFile(file('inbox.ndjson'), ndjson(inbox));
    expect(await ended(key, 'helpdesk')).toEqual({ code: 0, said: 'm-8\nm-9\n' });
    expect(await ended(key, 'helpdesk')).toEqual({ code: 0, said: '' });
    const threads = await readAll(caller, '/requests', { sort: 'created_at' });
    expect(threads).toMatchObject([
      { external_ref: 'T-17', status: 'closed', contact: { name: 'Ann' }, customer_id: customers[0]!.id },
      { external_ref: 'T-18', status: 'answered', contact: { name: 'Bob', email: null }, customer_id: null },
      { external_ref: 'T-19', status: 'open', contact: { name: 'shared@example.com' }, customer_id: null },
      { external_ref: 'T-20', status: 'answered', contact: { name: 'Eve' }, customer_id: null },
    ]);
    for (const { id, external_ref: ticket } of threads) {
      const messages = await readAll(caller, `/requests/${id}/messages`);
      const sent = inbox.filter((one) => one.ticket === ticket && 'text' in one);
      expect(messages).toMatchObject(
        sent.map(({ name, email, text, author = 'customer' }) => ({ body: text, author, author_name: name ?? email })),
      );
    }
  });

  test('a dashboard shows the totals of the API, also after a change before its stream was open', async () => {
    const of = await scene('dashboard', { orders: northwind('orders').slice(0, 40) });
    const another = (): Json => ({ ...northwind('orders')[0]!, id: randomUUID(), number: randomUUID().slice(0, 8) });
    // between its first totals and the opening of the stream
    meet('before', /stream/, async () => {
      await eventually(() => program.stdout().endsWith('\n\n'), PATIENCE);
      await store(gateway, of.organisation, { orders: [another()] });
    });
    const program = start(of.key, 'dashboard');
    const isRight = async (): Promise<boolean> => {
      const asked = '{ order_totals(group_by: [MONTH]) { data { month count total_minor } } }';
      const { data } = (await of.caller.graphql(asked)).body.data.order_totals as { data: Json[] };
      const shown = program.stdout().trimEnd().split('\n\n').at(-1)!.split('\n');
      const numbers = shown.map((line) =>
        line
          .replaceAll(/[^\d -]/g, '')
          .split(/ +/)
          .filter(Boolean),
      );
      const wanted = data.map(({ month, count, total_minor: total }) => [month, String(count), String(total)]);
      return program.stdout().endsWith('\n\n') && JSON.stringify(numbers) === JSON.stringify(wanted);
    };
    await eventually(() => /^1996-07 \d+ orders, USD [\d,]+\.\d\d$/m.test(program.stdout()), PATIENCE);
    const isSecond = (): boolean => program.stdout().split('\n\n').length > 2;
    await eventually(async () => isSecond() && (await isRight()), PATIENCE);
    await of.rows('orders').deleteOne({ number: 'SO-10248' });
    await eventually(isRight, PATIENCE);
  });

  test("a copy equals what is stored after changes, kills, a gap, a month away and another organisation's key", async () => {
    const of = await scene('events', { orders: northwind('orders').slice(0, 60) });
    const orders = of.rows('orders') as unknown as import('mongoose').mongo.Collection<{ _id: string }>;
    const isEqual = async ({ caller } = of): Promise<boolean> => {
      const rows = byId(await readAll(caller, '/orders', { include: 'lines', limit: 50 }));
      return (
        JSON.stringify(Object.entries(await copy('orders')).sort()) === JSON.stringify(Object.entries(rows).sort())
      );
    };
    const ids = northwind('orders').map(({ id }) => id as string);
    const [[first, second, third, fourth], newest] = [ids, ids[59]];
    const touch = (_id: string) =>
      orders.updateOne({ _id }, { $set: { customer_reference: randomUUID(), updated_at: new Date() } });
    await killed('before', /GET .*orders.*cursor/, of.key, 'events');
    // changed after its page was read: the feed has it
    meet('after', /GET .*orders\?(?!.*cursor)/, () => touch(newest!));
    const program = start(of.key, 'events');
    await eventually(() => isEqual(), PATIENCE);
    await touch(second!);
    await orders.deleteOne({ _id: third! });
    await eventually(() => isEqual(), PATIENCE);
    expect(program.said()).toBe('copied everything\n');
    await program.kill();
    const { next_cursor: after } = (await of.caller.get('/events', { after: 'now' })).body as Json;
    await orders.deleteOne({ _id: first! });
    await touch(fourth!);
    await eventually(async () => (await of.caller.get('/events', { after })).body.data.length === 2, PATIENCE);
    await killed('before', new RegExp(`GET .*orders\\?.*id=${fourth!}`), of.key, 'events');
    const again = start(of.key, 'events');
    await eventually(() => isEqual(), PATIENCE);
    expect(again.said()).toBe('');
    // a read for each page of events, and none for each order
    expect(seen(/GET .*orders\?.*id=.*id=/)).not.toEqual([]);
    expect(seen(/GET .*orders\//)).toEqual([]);
    // nobody recorded this deletion
    const { insertedId } = await orders.insertOne({
      ...(await orders.findOne({}))!,
      _id: randomUUID(),
      number: 'LOST',
    } as never);
    await eventually(() => isEqual(), PATIENCE);
    await again.kill();
    const lost = file(`orders/${String(insertedId)}.json`);
    const text = await readFile(lost, 'utf8');
    await orders.deleteOne({ _id: insertedId });
    const running = start(of.key, 'events');
    await eventually(() => isEqual(), PATIENCE);
    await writeFile(lost, text);
    const now = new Date();
    await addEvent(of, 'feed.gap', new Date(now.getTime() + 3_600_000), { from: now, to: now });
    await eventually(() => isEqual(), PATIENCE);
    await running.kill();
    await writeFile(lost, text);
    await writeFile(file('orders/cursor'), `${of.organisation.id} ${await expiredCursor(of)}`);
    const late = start(of.key, 'events');
    await eventually(() => isEqual(), PATIENCE);
    await late.kill();
    const other = await scene('events', { orders: northwind('orders').slice(60, 65) });
    const moved = start(other.key, 'events');
    await eventually(async () => moved.said().endsWith('everything\n') && (await isEqual(other)), PATIENCE);
    const { id } = of.organisation;
    expect(moved.said()).toBe(
      `orders is a copy of organisation ${id}, and the key of ${other.organisation.id}: starting over\ncopied everything\n`,
    );
  });
});

/** The records of a CSV file (RFC 4180). */
function records(text: string): string[][] {
  const fields = text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n])/g);
  const found: string[][] = [[]];
  for (const [, quoted, plain = '', end] of fields) {
    found.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end === '\n') found.push([]);
  }
  return found.slice(0, -1);
}
