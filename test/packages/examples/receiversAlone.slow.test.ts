import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { ERROR_CODES } from '../../../src/errors';
import { secretFrom, secretText } from '../../../src/auth/webhookSecrets';
import { signedHeaders } from '../../../src/webhooks/signing';
import { type Receiver as Server, startReceiver, stopReceivers } from '../../support/receiver';
import { eventually } from '../../api/http/eventually';
import { PATIENCE, type Receiver, RECEIVERS, receiving, SECRET } from './receivers';

/* The example receivers with a server that stands in for a gateway: what they accept, reject and request. */

describe.each(RECEIVERS)('the receiver in $name', (example) => {
  const receivers = receiving(example);
  const { start } = receivers;
  afterEach(stopReceivers);
  /** Objects of the copy, by id. */
  const copied = async () => (await example.read(receivers.copyFile()))?.product ?? {};
  const has = (id: string) => eventually(async () => (await copied())[id] as unknown, PATIENCE);

  let api: Server;
  /** How often paths with this prefix were requested. */
  const asked = (path: string): number => api.arrived.filter(({ url }) => url.startsWith(`/api/v1${path}`)).length;
  /** How many objects were requested; a slow machine may retry. */
  const read = (): number => new Set(api.arrived.map(({ url }) => url).filter((url) => /products\/./.test(url))).size;
  /** Pending answers of single objects. */
  let held: (() => void)[];
  let isHolding: boolean;
  /** What requests for single objects get before the object itself. */
  let first: ((response: ServerResponse) => void)[];

  const problem =
    (status: number, code: string, type = 'application/problem+json', headers = {}) =>
    (response: ServerResponse): void => {
      const body = { code, detail: '', ...(code in ERROR_CODES && { request_id: 'request-1' }) };
      response.writeHead(status, { ...headers, 'content-type': type }).end(JSON.stringify(body));
    };

  beforeEach(async () => {
    [held, isHolding, first] = [[], false, []];
    api = await startReceiver();
    api.answer = ({ url }, response) => {
      const send = (body: unknown) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      const [, name, id] = /^\/api\/v1\/(\w+)\/?([^?]*)/.exec(url) ?? [];
      if (name === 'events') send({ data: [], has_more: false, next_cursor: 'cursor' });
      else if (id === '') send({ data: [], has_more: false, next_cursor: null });
      else if (isHolding) held.push(() => send({ id }));
      else if (id === 'gone') problem(404, 'not_found')(response);
      else (first.shift() ?? (() => send({ id, answers: api.arrived.length })))(response);
    };
  });

  async function ready(): Promise<Receiver> {
    const receiver = await start(new URL(api.url).origin, 'key');
    // the feed is read once more after the copy
    await eventually(() => asked('/events') === 2, PATIENCE);
    // before the lists, or what changes while they are read would be missed
    expect(api.arrived[0]?.url).toContain('after=now');
    return receiver;
  }

  const eventOf = (id: string, object = 'one', type = 'product.updated'): string =>
    JSON.stringify({
      id,
      type,
      occurred_at: new Date(),
      object: { type: type.split('.')[0], id: object },
      changes: [],
    });

  async function post(to: Receiver, body: string, { signed = body, secret = SECRET } = {}) {
    const { id } = JSON.parse(signed) as { id: string };
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = signedHeaders({ id, timestamp, body: signed }, [secretFrom(secret)!]);
    return (await fetch(to.url, { method: 'POST', body, headers })).status;
  }

  // which signatures the clients accept: test/packages/clients/webhooks.ts
  test('accepts a signed event, and rejects one that is not, is for another body, or is no event', async () => {
    const receiver = await ready();
    const lines = (): Set<string> => new Set(receiver.said().split('\n'));
    const body = eventOf('a');
    expect(await post(receiver, body)).toBe(204);
    // the work follows the answer
    const said = await eventually(() => (receiver.said().includes('product.updated one') ? lines() : undefined));
    expect(await post(receiver, body, { secret: secretText(randomBytes(24)) })).toBe(401);
    expect(await post(receiver, body, { signed: eventOf('a', 'other') })).toBe(401);
    expect((await fetch(receiver.url, { method: 'POST', body })).status).toBe(401);
    expect(await post(receiver, JSON.stringify({ id: 'a', padding: 'x'.repeat(20_001) }))).toBe(413);
    expect((await fetch(`${receiver.url}/other`, { method: 'POST', body })).status).toBe(404);
    expect((await fetch(receiver.url)).ok).toBe(false);
    expect(lines()).toEqual(said);
    expect(await post(receiver, eventOf('b', 'two'))).toBe(204);
  });

  test('responds before reading the object; a repeated event is not read again; 404 deletes', async () => {
    const receiver = await ready();
    isHolding = true;
    expect(await post(receiver, eventOf('a'))).toBe(204);
    expect(await post(receiver, eventOf('b', 'two'))).toBe(204);
    await eventually(() => held.length > 0);
    isHolding = false;
    for (const answer of held) answer();
    await has('two');
    expect(asked('/products/one')).toBe(1);
    expect(await post(receiver, eventOf('a'))).toBe(204);
    expect(await post(receiver, eventOf('c', 'gone'))).toBe(204);
    await eventually(() => asked('/products/gone') === 1);
    expect(await post(receiver, eventOf('d', 'three'))).toBe(204);
    await has('three');
    expect(asked('/products/one')).toBe(1);
    expect(Object.keys(await copied()).sort()).toEqual(['one', 'three', 'two']);
  });

  test('a 404 that is not from Scopegate deletes nothing: it is retried and reported', async () => {
    const receiver = await ready();
    const answers = async () => (await copied()).one?.answers as number | undefined;
    expect(await post(receiver, eventOf('a'))).toBe(204);
    const before = await eventually(answers, PATIENCE);
    first = [
      (response) => response.writeHead(404, { 'content-type': 'text/plain' }).end('404 page not found'),
      problem(404, 'not_found', 'application/json'),
      problem(404, 'no_backend'),
      // nor does a proxy's rejection end it
      (response) => response.writeHead(403, { 'content-type': 'text/html' }).end('<html>'),
    ];
    expect(await post(receiver, eventOf('b'))).toBe(204);
    await eventually(async () => ((await answers()) ?? before) > before, PATIENCE);
    expect(asked('/products/one')).toBe(1 + 4 + 1);
    expect(receiver.said()).toContain('answered 404, but that is not a Scopegate response');
    expect(receiver.hasEnded()).toBe(false);
  });

  test('reports once what prevents reading, however often it retries, and when it resumes', async () => {
    const receiver = await ready();
    const gone = (response: ServerResponse): void => void response.destroy();
    const limited = problem(429, 'rate_limited', 'application/problem+json', { 'retry-after': '1' });
    first = [gone, gone, limited, limited];
    expect(await post(receiver, eventOf('a'))).toBe(204);
    await has('one');
    const lines = receiver.said().split('\n');
    const times = (text: string): number => lines.filter((line) => line.includes(text)).length;
    expect([times('no_answer: No answer from http://'), times('rate_limited: '), times('Going on.')]).toEqual([
      1, 1, 1,
    ]);
  });

  test('keeps working while another program reads the copy', async () => {
    const receiver = await ready();
    for (const id of ['one', 'two', 'three']) {
      expect(await post(receiver, eventOf(id, id))).toBe(204);
      await has(id);
    }
    const reader = spawn('python3', ['-c', example.hold, receivers.copyFile()], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(reader.stdout, 'data');
      expect(await post(receiver, eventOf('more', 'more'))).toBe(204);
      await has('more');
      expect(reader.exitCode).toBeNull();
    } finally {
      reader.stdin.end('\n');
      await once(reader, 'close');
    }
  });

  test('a missing or invalid setting is named in one line', async () => {
    const whole = { SCOPEGATE_WEBHOOK_SECRET: SECRET, SCOPEGATE_KEY: 'key' };
    for (const [variables, words] of [
      [{}, 'SCOPEGATE_WEBHOOK_SECRET is not set'],
      [{ ...whole, SCOPEGATE_WEBHOOK_SECRET: 'whsec_…' }, 'SCOPEGATE_WEBHOOK_SECRET is not the secret'],
      [{ SCOPEGATE_WEBHOOK_SECRET: SECRET }, 'SCOPEGATE_KEY is not set'],
      [{ ...whole, PORT: new URL(api.url).port }, /address already in use/i],
    ] as const) {
      const { code, said } = await receivers.ended(variables);
      expect({ code, lines: said.trim().split('\n') }).toEqual({ code: 1, lines: [expect.stringMatching(words)] });
    }
  });

  test('queues at most 100 events, and reads the feed for the rest', async () => {
    const receiver = await ready();
    isHolding = true;
    expect(await post(receiver, eventOf('first', 'first'))).toBe(204);
    await eventually(() => held.length === 1);
    for (let n = 0; n < 150; n += 50) {
      const some = Array.from({ length: 50 }, (_none, i) => post(receiver, eventOf(String(n + i), String(n + i))));
      expect(new Set(await Promise.all(some))).toEqual(new Set([204]));
    }
    isHolding = false;
    for (const answer of held) answer();
    await eventually(() => read() === 101 && asked('/events') === 3, PATIENCE);
    expect(await post(receiver, eventOf('last', 'last'))).toBe(204);
    await eventually(() => asked('/products/last') === 1, PATIENCE);
    expect(read()).toBe(102);
  });
});
