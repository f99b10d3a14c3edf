import { once } from 'node:events';
import { request as openRequest } from 'node:http';
import { randomUUID } from 'node:crypto';
import { mongo } from 'mongoose';
import { AppError } from '../../../src/errors';
import type * as Ndjson from '../../../src/http/ndjson';
import type { Json } from '../../support/client';
import { served, startGateway } from '../../support/gateway';
import { eventually } from '../../api/http/eventually';
import { SECRET, TOKENS } from './operator';
import { costsOf, put, writing } from './writing';

// a busy machine may need longer for large bodies than a caller has
jest.mock('../../../src/http/ndjson', () => {
  const actual = jest.requireActual<typeof Ndjson>('../../../src/http/ndjson');
  return { ...actual, NDJSON_LIMITS: { ...actual.NDJSON_LIMITS, time: 600_000 } };
});
const TIMEOUTS = { request: 600_000, answer: 600_000 };

const gateway = served({ ...TOKENS, RATE_LIMIT_PER_MINUTE: '1000000' }, TIMEOUTS);
const start = () => writing(gateway);
const HEADERS = { authorization: `Bearer ${SECRET}`, 'content-type': 'application/x-ndjson' };

interface Lines {
  readonly status: number;
  readonly headers: Headers;
  readonly results: Json[];
  readonly text: string;
}

async function send(body: string, headers: Record<string, string> = {}, url = gateway.url): Promise<Lines> {
  const response = await fetch(`${url}/operator/v1/writes`, {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body,
  });
  const text = await response.text();
  const isLines = response.headers.get('content-type') === 'application/x-ndjson';
  const results = isLines
    ? text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line))
    : [];
  return { status: response.status, headers: response.headers, results, text };
}

const lineOf = (organisation: string, element: Json): string => JSON.stringify({ organisation, ...element });
const product = (sku: string, more: Json = {}) => put('product', { sku, name: 'N', ...more });
const shown = ({ outcome, errors }: Json): string =>
  [outcome, ...errors.map(({ code, pointer }: Json) => `${String(code)} ${String(pointer)}`)].join(' ');

test('lines of many organisations are answered in their order, and each in its own', async () => {
  const [one, two] = [await start(), await start()];
  const ref = `ref:${randomUUID()}`;
  await two.caller.patch(`/organisations/${two.organisation.id}`, { external_ref: ref.slice(4) });
  const { status, results, headers } = await send(
    [
      lineOf(one.organisation.id, product('1')),
      lineOf(ref, product('1')),
      lineOf(one.organisation.id.toUpperCase(), { type: 'product', patch: { sku: '1', name: 'M' } }),
      '',
      lineOf(randomUUID(), product('1')),
      lineOf('ref:none', product('1')),
      lineOf('nobody', product('1')),
      JSON.stringify(product('1')),
      JSON.stringify({ organisation: 7, ...product('1') }),
      '{"organisation": ',
      '[]',
      `{"organisation":"${one.organisation.id}","type":"product","put":{"sku":"a","sku":"b"}}`,
      lineOf(one.organisation.id, product('2', { colour: 'red' })),
      lineOf(one.organisation.id, { ...product('2'), type: { toString: 1 } }),
      lineOf(ref, { type: 'product', delete: { sku: '1' } }),
    ].join('\r\n'),
  );
  expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
  expect(results.map(({ index }) => index)).toEqual([...results.keys()]);
  expect(results[3].errors[0].detail).toContain('create it first with POST /organisations');
  // each says what it names, as far as the line can be read
  expect(results.map(({ type }) => type)).toEqual([
    ...[...Array<string>(8).fill('product'), null, null, null, 'product', null, 'product'],
  ]);
  expect(results.map(shown)).toEqual([
    'created',
    'created',
    'updated',
    'failed not_found /organisation',
    'failed not_found /organisation',
    'failed format /organisation',
    'failed required /organisation',
    'failed type /organisation',
    'failed json ',
    'failed type ',
    'failed duplicate /put/sku',
    'failed unknown /put/colour',
    'failed type /type not_allowed /type',
    'deleted',
  ]);
  expect([await one.rows('products'), await two.rows('products')]).toMatchObject([[{ sku: '1', name: 'M' }], []]);
  const audit = async ({ organisation: { id } }: typeof one) =>
    (await gateway.control.audit.list({ organisationId: id, action: 'objects.written', limit: 5 })).map(
      ({ details }) => details,
    );
  expect([await audit(one), await audit(two)]).toEqual([[{ created: 1, updated: 1 }], [{ created: 1, deleted: 1 }]]);
});

test('an organisation that is being erased fails its own lines', async () => {
  const [one, two] = [await start(), await start()];
  await gateway.control.erasing.begin(one.organisation.id);
  const { results } = await send(
    [lineOf(one.organisation.id, product('1')), lineOf(two.organisation.id, product('1'))].join('\n'),
  );
  expect(results.map(shown)).toEqual(['failed conflict ', 'created']);
});

describe('with a database that fails', () => {
  afterEach(() => jest.restoreAllMocks());
  const write = Reflect.get(mongo.Collection.prototype, 'bulkWrite') as (...args: unknown[]) => Promise<never>;
  const failing = (errorOf: (names: readonly string[]) => Error | undefined): void => {
    jest.spyOn(mongo.Collection.prototype, 'bulkWrite').mockImplementation(function (this: mongo.Collection, ...args) {
      const names = args[0].flatMap((one) => ('insertOne' in one ? String(one.insertOne.document.name) : []));
      const error = errorOf(names);
      return error ? Promise.reject(error) : write.apply(this, args);
    });
  };

  test('an error of our own fails the lines of its organisation alone, and is logged', async () => {
    const [one, two] = [await start(), await start()];
    failing((names) => (names.includes('broken') ? new Error('by test') : undefined));
    const { status, results, headers } = await send(
      [
        lineOf(one.organisation.id, product('1', { name: 'broken', external_ref: 'p-1' })),
        lineOf(two.organisation.id, product('1')),
        lineOf(one.organisation.id, product('2')),
      ].join('\n'),
    );
    expect([status, ...results.map(shown)]).toEqual([200, 'failed unavailable ', 'created', 'failed unavailable ']);
    const logged = gateway.logs.filter(({ organisation_id: id }) => id === one.organisation.id);
    const request_id = headers.get('x-request-id');
    expect(results[0].errors[0].detail).toContain(`under the request id ${String(request_id)};`);
    const objects = [
      { type: 'product', external_ref: 'p-1' },
      { type: 'product', external_ref: null },
    ];
    expect([results[0], results[2]]).toMatchObject(objects);
    expect(logged).toMatchObject([{ request_id, code: 'internal', lines: 2, objects, error: { message: 'by test' } }]);
  });

  test('an audit event that cannot be recorded fails no write, and is logged', async () => {
    const [one, two] = [await start(), await start()];
    const update = Reflect.get(mongo.Collection.prototype, 'updateOne') as (...args: unknown[]) => Promise<never>;
    jest.spyOn(mongo.Collection.prototype, 'updateOne').mockImplementation(function (this: mongo.Collection, ...args) {
      const isAudit = this.collectionName === 'audit_events';
      return isAudit ? Promise.reject(new mongo.MongoNetworkError('by test')) : update.apply(this, args);
    });
    const { status, results } = await send(
      [lineOf(one.organisation.id, product('1')), lineOf(two.organisation.id, product('1'))].join('\n'),
    );
    expect([status, ...results.map(shown)]).toEqual([200, 'created', 'created']);
    expect(await one.outcomes(product('2'), product('3'))).toEqual(['created', 'created']);
    const logged = gateway.logs.filter(({ msg }) => msg === 'audit event not recorded');
    const event = {
      level: 50,
      action: 'objects.written',
      actor: 'operator:billing',
      error: expect.objectContaining({ message: 'by test' }) as object,
    };
    const events = [
      { ...event, organisation_id: one.organisation.id, details: { created: 1 } },
      { ...event, organisation_id: two.organisation.id, details: { created: 1 } },
      { ...event, organisation_id: one.organisation.id, details: { created: 2 } },
    ];
    expect(logged).toHaveLength(events.length);
    // organisations are written side by side
    for (const expected of events) expect(logged).toContainEqual(expect.objectContaining(expected));
  });

  test('what is too much for one transaction is stored in several', async () => {
    const { organisation, rows } = await start();
    const calls: number[] = [];
    failing(({ length }) => {
      if (length > 0) calls.push(length);
      return length > 3 ? new mongo.MongoServerError({ message: 'by test', code: 388 }) : undefined;
    });
    const skus = Array.from({ length: 10 }, (_, at) => String(at));
    const { results } = await send(skus.map((sku) => lineOf(organisation.id, product(sku))).join('\n'));
    expect(results.map(shown)).toEqual(skus.map(() => 'created'));
    expect(await rows('products')).toHaveLength(10);
    expect(calls).toEqual([10, 5, 3, 3, 3, 1]);
    // of other organisations as many are stored at once as before: here in a later piece of the body
    const [small, large] = [await start(), await start()];
    const sizes: number[] = [];
    failing((names) => {
      if (names.includes('L')) sizes.push(names.length);
      return names.includes('S') && names.length > 1
        ? new mongo.MongoServerError({ message: 'by test', code: 388 })
        : undefined;
    });
    const linesOf = ({ organisation: { id } }: typeof small, name: string) =>
      skus.slice(0, 3).map((sku) => lineOf(id, product(sku, { name })));
    const none = lineOf(randomUUID(), product('none'));
    await send([...linesOf(small, 'S'), ...Array<string>(997).fill(none), ...linesOf(large, 'L')].join('\n'));
    expect(sizes).toEqual([3]);
    expect(await small.rows('products')).toHaveLength(3);
    failing(() => new mongo.MongoServerError({ message: 'by test', code: 388 }));
    const alone = await send(lineOf(organisation.id, product('x')));
    expect(alone.results.map(shown)).toEqual(['failed size ']);
    // the same if they name more rows than a request may keep, which those of other organisations count towards
    calls.length = 0;
    failing(({ length }) => {
      if (length > 0) calls.push(length);
      return length > 3 ? new AppError('invalid_request', 'by test') : undefined;
    });
    const wide = skus.map((sku) => lineOf(organisation.id, product(`wide-${sku}`)));
    expect((await send(wide.join('\n'))).results.map(shown)).toEqual(skus.map(() => 'created'));
    expect(calls).toEqual([10, 5, 3, 3, 3, 1]);
    failing(() => new AppError('invalid_request', 'by test'));
    expect((await send(lineOf(organisation.id, product('x')))).results.map(shown)).toEqual(['failed unavailable ']);
    failing(() => new AppError('stored_object_invalid', 'by test'));
    const invalid = await send(lineOf(organisation.id, product('x')));
    expect(invalid.results.map(shown)).toEqual(['failed invalid ']);
  });
});

test('results come while the body is still being sent, and a caller who leaves ends it', async () => {
  const { organisation, rows } = await start();
  const outgoing = openRequest(`${gateway.url}/operator/v1/writes`, { method: 'POST', headers: HEADERS });
  outgoing.on('error', () => undefined);
  outgoing.write(`${lineOf(organisation.id, product('1'))}\n{"organisation":`);
  const [response] = (await once(outgoing, 'response')) as [NodeJS.ReadableStream];
  const [first] = (await once(response, 'data')) as [Buffer];
  expect(JSON.parse(first.toString())).toMatchObject({ index: 0, outcome: 'created' });
  outgoing.write(`"${organisation.id}","type":"product","put":{"sku":"2","name":"N"}}\n`);
  const [second] = (await once(response, 'data')) as [Buffer];
  expect(JSON.parse(second.toString())).toMatchObject({ index: 1, outcome: 'created' });
  outgoing.destroy();
  await eventually(async () => (await rows('products')).length === 2);
});

test('a body has at most 10,000 lines and 16 MiB, a line 5 MiB; what is beyond is not read', async () => {
  const { organisation, rows } = await start();
  const none = lineOf(organisation.id, { type: 'product', delete: { sku: 'none' } });
  const { results } = await send(`${none}\n`.repeat(10_001) + lineOf(organisation.id, product('late')));
  expect(results).toHaveLength(10_001);
  expect(shown(results.at(-1))).toBe('failed size ');
  expect(new Set(results.slice(0, 10_000).map(shown))).toEqual(new Set(['unchanged']));
  expect((await send('x'.repeat(16 * 1024 * 1024 + 1))).status).toBe(413);
  const long = lineOf(organisation.id, product('long', { name: 'x'.repeat(6 * 1024 * 1024) }));
  const after = await send(`${long}\n${lineOf(organisation.id, product('after'))}`);
  expect(after.results.map(shown)).toEqual(['failed length ', 'created']);
  expect((await rows('products')).map(({ sku }) => sku)).toEqual(['after']);
});

test('it takes its own type, method and token, and a point for each 100 lines begun', async () => {
  const { organisation } = await start();
  const line = `${lineOf(organisation.id, { type: 'product', delete: { sku: 'none' } })}\n`;
  const json = await send(line, { 'content-type': 'application/json' });
  expect([json.status, json.headers.get('accept')]).toEqual([415, 'application/x-ndjson']);
  expect((await send(line, { authorization: 'Bearer no' })).status).toBe(401);
  const read = await fetch(`${gateway.url}/operator/v1/writes`, { headers: HEADERS });
  expect([read.status, read.headers.get('allow'), await read.json()]).toEqual([
    405,
    'POST',
    expect.objectContaining({ detail: 'GET is not allowed here; allowed: POST.' }),
  ]);
  expect((await send('')).results).toEqual([]);
  const look = () => fetch(`${gateway.url}/operator/v1/shards`, { headers: HEADERS });
  const [lines, last] = await costsOf(look, () => send(line.repeat(201)), look);
  expect(lines! + last!).toBe(4);
});

test('elements of one organisation keep their order across pieces', async () => {
  const { organisation, rows } = await start();
  const other = await start();
  const lines = Array.from({ length: 2500 }, (_, at) =>
    at % 5 === 4
      ? lineOf(other.organisation.id, product('S', { lead_time_days: at }))
      : lineOf(organisation.id, product('S', { lead_time_days: at })),
  );
  const { results } = await send(lines.join('\n'));
  expect(results.map(shown)).toEqual(lines.map((_, at) => (at === 0 || at === 4 ? 'created' : 'updated')));
  expect([await rows('products'), await other.rows('products')]).toMatchObject([
    [{ lead_time_days: 2498 }],
    [{ lead_time_days: 2499 }],
  ]);
});

test('without points all later lines fail, and a gateway that stops ends the answer after what it has stored', async () => {
  const stopping = await startGateway({ ...TOKENS, RATE_LIMIT_PER_MINUTE: '1' }, TIMEOUTS);
  const { organisation, rows } = await writing(stopping);
  const outgoing = openRequest(`${stopping.url}/operator/v1/writes`, { method: 'POST', headers: HEADERS });
  outgoing.on('error', () => undefined);
  const lineOfName = (name: string) => `${lineOf(organisation.id, product('1', { name }))}\n`;
  outgoing.write(lineOfName('1').repeat(60));
  const [response] = (await once(outgoing, 'response')) as [NodeJS.ReadableStream];
  let text = '';
  response.on('data', (chunk: Buffer) => (text += chunk.toString()));
  const answered = () => text.split('\n').length - 1;
  await eventually(() => answered() === 60);
  // the first begins a hundred; the second would be in it, and in what is left of the one before
  outgoing.write(lineOfName('2').repeat(60));
  await eventually(() => answered() === 120);
  outgoing.write(lineOfName('3'));
  await eventually(() => answered() === 121);
  const stored = await rows('products');
  const ended = once(response, 'end');
  const stopped = stopping.stop();
  await ended;
  outgoing.destroy();
  await stopped;
  const results = text
    .trimEnd()
    .split('\n')
    .map((line) => shown(JSON.parse(line)));
  const refused = Array<string>(61).fill('failed rate_limited ');
  expect(results).toEqual(['created', ...Array<string>(59).fill('unchanged'), ...refused]);
  expect(stored).toMatchObject([{ name: '1' }]);
});
