import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ORIGIN } from '../../../src/pages/code';
import { SAMPLES } from '../../../src/pages/landing';
import { run } from '../examples/run';
import { eventually } from '../../api/http/eventually';
import { blocksOf } from '../../docs/markdown';
import { eventRow, eventScene } from '../../support/fixtures/events';
import { client, type Json, readAll } from '../../support/client';
import { makeKey, makeNorthwind } from '../../support/factories';
import { driver, metric, served } from '../../support/gateway';
import { calling, type Language, type Outcome } from './calling';

/* A client against a real gateway. */

export interface Readme {
  /** Language of its code blocks. */
  readonly language: string;
  readonly page: string;
  /** File extension of programs, and arguments to run them with. */
  readonly ending: string;
  readonly args: readonly string[];
}

export function live(language: Language, { args, ending, page, ...readme }: Readme): void {
  const gateway = served();
  const bare = driver();
  const call = (key: string, calls: object[]): Promise<Outcome[]> =>
    calling(language, { url: gateway.url, key }, calls);

  test('reads, pages, changes with If-Match, writes once, and queries GraphQL', async () => {
    const { key } = await makeKey(gateway, await makeNorthwind(gateway, 120));
    const caller = client(gateway, key);
    const [product] = await readAll(caller, '/products', { sku: 'NW-001' });
    const { headers } = await caller.get(`/products/${product.id as string}`);
    const one = { route: '/products/{id}', path: { id: product.id as string } };
    const change = { do: 'patch', ...one, etag: headers.get('etag'), body: { unit_price_minor: 7 } };
    const write = { do: 'post', route: '/requests', body: { text: randomUUID() }, key: randomUUID() };
    const mutation = { do: 'graphql', document: 'mutation ($text: String!) { open_request(text: $text) { subject } }' };
    const outcomes = await call(key, [
      { do: 'get', route: '/me' },
      { do: 'list', route: '/orders', query: { status: ['completed'] }, take: 1000 },
      { do: 'read', ...one },
      change,
      change,
      ...[write, write],
      { do: 'graphql', document: '{ products(limit: 1) { data { sku } } }' },
      { ...mutation, variables: { text: 'Hello' } },
      { do: 'graphql', document: '{ order(id: "x") { id } nothing }' },
      { do: 'get', route: '/orders', query: { limit: 1000 } },
    ]);
    const [me, orders, read, changed, refused, first, again, asked, opened, wrong, invalid] = outcomes as [
      Outcome,
      ...Json[],
    ];
    expect(me.result.organisation.name).toBe('Northwind Traders');
    expect(orders.rows).toEqual(await readAll(caller, '/orders', { status: 'completed', limit: 100 }));
    expect(orders.rows.length).toBeGreaterThan(100);
    expect(read.result).toEqual([product, headers.get('etag')]);
    expect(changed.result).toMatchObject({ id: product.id, unit_price_minor: 7 });
    expect(refused.error).toMatchObject({ code: 'precondition_failed', status: 412 });
    expect(first.result.id).toBe(again.result.id);
    expect(asked.result.products.data).toHaveLength(1);
    expect(opened.result).toEqual({ open_request: { subject: 'Hello' } });
    expect(wrong.error).toMatchObject({ code: 'invalid_request', status: 400, requestId: expect.any(String) });
    expect(invalid.error).toMatchObject({
      errors: [{ parameter: 'limit', code: 'range' }],
      requestId: expect.any(String),
    });
    for (const { retries } of outcomes) expect(retries).toEqual([]);
  });

  test('follows events of some types from a cursor, until its key is revoked', async () => {
    const scene = await eventScene(gateway, bare);
    await scene.rows.insertMany([eventRow(1), eventRow(2, 'order.created'), eventRow(3)]);
    const { body } = await scene.caller.get('/events', { limit: 1 });
    const after = body.next_cursor as string;
    const [two, gone] = await call(scene.key, [
      { do: 'events', after, types: ['product.updated', 'order.created'], take: 2 },
      { do: 'events', after: 'made-up', take: 1 },
    ]);
    const feed = await scene.caller.get('/events', { after });
    expect(two!.rows.map(({ cursor, ...event }) => [typeof cursor, event])).toEqual(
      feed.body.data.map((event: Json) => ['string', event]),
    );
    const rest = await scene.caller.get('/events', { after: two!.rows[0].cursor as string });
    expect(rest.body.data).toHaveLength(1);
    expect(gone!.error).toMatchObject({ code: 'invalid_request', errors: [{ parameter: 'after' }] });
    const following = call(scene.key, [{ do: 'events', after, take: 99 }]);
    await eventually(async () => (await metric(gateway, 'scopegate_event_streams')) === 1);
    await gateway.control.apiKeys.revoke(scene.keyId);
    const [{ error }] = (await following) as [Outcome];
    expect(error).toMatchObject({ code: 'unauthenticated', status: 401, requestId: expect.any(String) });
  });

  test('the programs in its README and on the landing page run as written', async () => {
    const organisation = await makeNorthwind(gateway, 30);
    const { key } = await makeKey(gateway, organisation);
    const programs = blocksOf(page).filter((block) => block.language === readme.language);
    expect(programs.length).toBeGreaterThan(0);
    const first = SAMPLES[language.name === 'python' ? 'Python' : 'TypeScript'].replace(ORIGIN, gateway.url);
    for (const [at, text] of [first, ...programs.map((program) => program.text)].entries()) {
      const file = join(language.driver(), '..', `readme-${String(at)}${ending}`);
      await writeFile(file, text);
      const env = { SCOPEGATE_URL: gateway.url, SCOPEGATE_KEY: key };
      expect(await run(language.command(), [...args, file], { env })).not.toBe('');
    }
  });

  test("has the API's version and the project's licence", () => {
    const [root, package_] = [join(__dirname, '../../..'), join(__dirname, '../../../clients', language.name)];
    const text = (...path: string[]): string => readFileSync(join(...path), 'utf8');
    const { version } = (JSON.parse(text(root, 'openapi.json')) as { info: { version: string } }).info;
    const manifest = text(package_, language.name === 'python' ? 'pyproject.toml' : 'package.json');
    expect(/"?version"?(?: =|:) "(.+)"/.exec(manifest)?.[1]).toBe(version);
    expect(text(package_, 'LICENSE')).toBe(text(root, 'LICENSE'));
  });
}
