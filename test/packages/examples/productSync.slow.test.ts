import { randomInt } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import mongoose from 'mongoose';
import { eventually } from '../../api/http/eventually';
import { operator, TOKENS } from '../../admin/operator/operator';
import { client, type Json, readAll } from '../../support/client';
import { makeKey } from '../../support/factories';
import { driver, late, served } from '../../support/gateway';
import { call, installProduct } from './productApp';
import { ROOT, run } from './run';

/* The example product against a real gateway: its data in the API, and the API's changes in it. Its copy of clients/sync is packed and installed. */

afterAll(() => bare.db(CONTROL_DATABASE).dropDatabase());
afterAll(() => product.remove());
const CONTROL_DATABASE = 'scopegate_test_product_sync';
const bare = driver();
const gateway = served({ ...TOKENS, CONTROL_DATABASE, EVENTS: 'on' });
const product = late(() => installProduct(bare, gateway));

const KILLS = 6;
/** Quotations that an account has at least in the end, however slow the machine. */
const LEAST = 20;
const STATUSES: Json = { offered: 'sent', won: 'accepted', lost: 'declined', lapsed: 'expired' };
const minor = (amount: unknown): number => Math.round(Number(String(amount)) * 100);

/** An account with a caller of its API. */
async function signUp(url: () => string, name: string) {
  const id = new mongoose.mongo.ObjectId().toHexString();
  await call(url, 'post', '/accounts', { id, name });
  await operator(gateway).patch(`/organisations/ref:${id}`, { plan: 'integrations' });
  const { body } = await operator(gateway).get(`/organisations/ref:${id}`);
  const { key } = await makeKey(gateway, (await gateway.control.organisations.find(body.id as string))!);
  return { id, path: `/accounts/${id}`, organisation: body.id as string, api: client(gateway, key) };
}

test("the archive has exactly the files it needs, the API's version and the project's licence, and loads no other package", async () => {
  const archive = join(product.folder, 'node_modules', '@scopegate', 'sync');
  const files = await readdir(archive, { recursive: true });
  const others = files.filter((file) => !/^dist(\/\w+(\.d\.ts|\.js))?$/.test(file)).sort();
  expect(others).toEqual(['LICENSE', 'README.md', 'package.json']);
  const read = (...path: string[]): Promise<string> => readFile(join(...path), 'utf8');
  const { info } = JSON.parse(await read(ROOT, 'openapi.json')) as { info: { version: string } };
  const { version, dependencies } = JSON.parse(await read(archive, 'package.json')) as Json;
  expect([version, dependencies]).toEqual([info.version, undefined]);
  expect(await read(archive, 'LICENSE')).toBe(await read(ROOT, 'LICENSE'));
  const input = "export * from '@scopegate/sync'";
  const options = ['--bundle', '--platform=node', '--format=esm', '--log-level=warning'];
  const bundled = await run(join(ROOT, 'node_modules', '.bin', 'esbuild'), options, { cwd: product.folder, input });
  expect([...bundled.matchAll(/from "(?!node:)(.+)"/g)]).toEqual([]);
});

test('what the product stores in its own shape is in the API within seconds, and what is done there is in the product', async () => {
  const app = await product.start();
  const url = (): string => app.url;
  const { path, api, organisation } = await signUp(url, 'Acme');
  const person = await call(url, 'post', `${path}/clients`, { name: 'Ann', mail: 'ann@example.com' });
  const items = [{ text: 'Bolt', count: 3, price: '1.15' }];
  const dates = { offeredAt: '2026-11-02T10:00:00+01:00', validUntil: '2026-11-30T00:00:00+01:00' };
  const own = { client: person._id, reference: 'A-1', items, vat: '0.70', ...dates };
  const made = await call(url, 'post', `${path}/quotations`, { ...own, state: 'editing' });
  await call(url, 'patch', `/quotations/${String(made._id)}`, { state: 'offered' });
  const quote = await eventually(async () => (await api.get('/quotes', { external_ref: made._id })).body.data[0]);
  const amounts = { subtotal_minor: 345, vat_minor: 70, total_minor: 415 };
  const times = { sent_at: '2026-11-02T09:00:00.000Z', valid_until: '2026-11-30' };
  expect(quote).toMatchObject({ number: 'A-1', status: 'sent', currency: 'EUR', ...amounts, ...times });
  const { body: customer } = await api.get(`/customers/${String(quote.customer_id)}`);
  expect(customer).toMatchObject({ external_ref: person._id, name: 'Ann', email: 'ann@example.com' });
  // taken back to be edited
  await call(url, 'patch', `/quotations/${String(made._id)}`, { state: 'editing' });
  await eventually(async () => (await api.get(`/quotes/${String(quote.id)}`)).status === 404);
  const link = new URL((await call(url, 'get', `${path}/integrations`)) as string);
  const token = await gateway.control.sessions.useLink(link.searchParams.get('link')!, '127.0.0.1');
  expect(await gateway.control.sessions.find(token!)).toMatchObject({ home: organisation, user: { id: 'app:7' } });
  const { body: request } = await api.post('/requests', { text: 'When?' });
  const notices = await eventually(async () => {
    const found = (await call(url, 'get', `${path}/notices`)) as Json[];
    return found.length === 2 && found;
  });
  const object = { type: 'request', id: request.id };
  const types = ['request.created', 'request.message_added'];
  expect(notices).toMatchObject(types.map((type) => ({ type, object })));
  await app.kill();
});

test('killed six times while it writes, and with two processes at once, nothing is lost, doubled or out of order', async () => {
  let apps = [await product.start()];
  const url = (): string => apps[randomInt(apps.length)]!.url;
  const [one, two, closed] = [await signUp(url, 'One'), await signUp(url, 'Two'), await signUp(url, 'Closed')];
  let [kills, made] = [0, 0];
  const killing = (async () => {
    for (; kills < KILLS; kills += 1) {
      await sleep(randomInt(100, 900));
      const killed = apps[0]!;
      const others = apps.slice(1);
      await killed.kill();
      // in the second half there are two
      const started = await Promise.all(
        Array.from({ length: kills < KILLS / 2 ? 1 : 2 - others.length }, () => product.start()),
      );
      apps = [...others, ...started];
    }
  })();
  const work = async (account: Awaited<ReturnType<typeof signUp>>): Promise<void> => {
    const ids: string[] = [];
    while (kills < KILLS || ids.length < LEAST) {
      made += 1;
      const number = String(made).padStart(5, '0');
      // every tenth cannot be mapped, or is refused by the gateway
      const [price, reference] =
        made % 20 === 3 ? ['1.005', number] : made % 20 === 13 ? ['1', `${number}\u0007`] : ['1.15', number];
      const person = await call(url, 'post', `${account.path}/clients`, { name: `Client ${number}` });
      const items = [{ text: 'Bolt', count: made % 7, price }];
      const own = { client: person._id, reference, state: 'offered', items, offeredAt: new Date() };
      const created = await call(url, 'post', `${account.path}/quotations`, own).catch(() => undefined);
      // a call that was made again
      if (!created) continue;
      ids.push(created._id as string);
      const changed = ids[randomInt(ids.length)]!;
      const state = ['won', 'lost', 'lapsed', 'offered', 'editing'][made % 5];
      await call(url, 'patch', `/quotations/${changed}`, { state, closedAt: new Date() });
      if (made % 9 === 0) await call(url, 'delete', `/quotations/${ids.shift()!}`);
      if (account === closed && made > LEAST) break;
    }
  };
  const closing = work(closed).then(() => call(url, 'delete', closed.path));
  await Promise.all([killing, closing, work(one), work(two)]);
  for (const { id, api } of [one, two]) {
    const own = await product.database
      .collection('quotations')
      .find({ account: new mongoose.mongo.ObjectId(id) })
      .toArray();
    const people = await product.database
      .collection('clients')
      .find({ account: new mongoose.mongo.ObjectId(id) })
      .toArray();
    const isRight = ({ reference, items, state }: Json): boolean =>
      state !== 'editing' && !String(reference).includes('\u0007') && String(items[0].price) !== '1.005';
    const expected = own
      .filter(isRight)
      .map(({ _id, reference, state, items }) =>
        [String(_id), reference, STATUSES[state], items[0].count * minor(items[0].price)].join(),
      )
      .sort();
    expect(expected.length).toBeGreaterThan(10);
    const shown = async (): Promise<string[]> =>
      (await readAll(api, '/quotes', { limit: 100 }))
        .map(({ external_ref, number, status, total_minor }) => [external_ref, number, status, total_minor].join())
        .sort();
    await eventually(async () => JSON.stringify(await shown()) === JSON.stringify(expected), 120_000).catch(
      () => undefined,
    );
    expect(await shown()).toEqual(expected);
    expect(
      (await readAll(api, '/customers', { limit: 100 })).map(({ external_ref }) => external_ref as string).sort(),
    ).toEqual(people.map(({ _id }) => String(_id)).sort());
  }
  expect((await operator(gateway).get(`/organisations/ref:${closed.id}`)).status).toBe(404);
  const faults = [...product.said().matchAll(/^\{"fault":(.+)\}$/gm)].map(([, text]) => JSON.parse(text!) as Json);
  const codes = new Set(faults.flatMap(({ errors }) => errors.map(({ code }: Json) => code as string)));
  expect([...codes]).toEqual(expect.arrayContaining(['map', 'format']));
});
