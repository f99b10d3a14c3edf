import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomBytes, randomUUID } from 'node:crypto';
import { commandLine, serve } from '../cli/commandLine';
import { eventually } from '../api/http/eventually';
import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { late, served } from '../support/gateway';

/* Traces, as a collector receives them from a running gateway. */

interface Received {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly resource: Readonly<Record<string, string | number>>;
}

/** Constants of OpenTelemetry's protocol. */
const [INTERNAL, SERVER, CLIENT] = [1, 2, 3];
const ERROR = 2;

const CONTROL_DATABASE = `tracing_${randomBytes(6).toString('hex')}`;
const requests: { readonly url: string; readonly headers: Record<string, unknown> }[] = [];
const spans: Received[] = [];
let text = '';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}
const plainAttributes = (list: readonly Attribute[]): Record<string, string | number> =>
  Object.fromEntries(list.map(({ key: name, value }) => [name, value.stringValue ?? value.intValue ?? '']));

function receive(body: {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: (Omit<Received, 'attributes' | 'resource'> & { attributes: Attribute[] })[] }[];
  }[];
}): void {
  text += JSON.stringify(body);
  for (const { resource, scopeSpans } of body.resourceSpans)
    for (const { spans: list } of scopeSpans)
      for (const span of list)
        spans.push({
          ...span,
          attributes: plainAttributes(span.attributes),
          resource: plainAttributes(resource.attributes),
        });
}

const collector = late(async () => {
  const server = createServer((request, response) => {
    requests.push({ url: request.url ?? '', headers: request.headers });
    void json(request).then((body) => {
      receive(body as Parameters<typeof receive>[0]);
      response.setHeader('content-type', 'application/json').end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
});
const beside = served({ CONTROL_DATABASE });
const key = late(async () => makeKey(beside, await makeOrganisation(beside)));
const cli = commandLine({ CONTROL_DATABASE });
const traced = late(() =>
  serve(cli, [], {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String((collector.address() as AddressInfo).port)}/`,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=se%20cret',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  }),
);
const caller = late(() => Promise.resolve(client(traced, key.key)));
afterAll(async () => {
  await traced.stop();
  collector.close();
});

/** A request inside a trace of the caller's, and the resulting spans once that of the request has arrived. */
async function tracedCall(
  send: (headers: Record<string, string>) => Promise<{ headers: Headers; status: number }>,
  flags = '01',
): Promise<{ answer: { headers: Headers; status: number }; traceId: string; parent: string; found: () => Received[] }> {
  const [traceId, parent] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
  const answer = await send({ traceparent: `00-${traceId}-${parent}-${flags}` });
  return { answer, traceId, parent, found: () => spans.filter((span) => span.traceId === traceId) };
}

const ofKind = (list: readonly Received[], kind: number): Received[] => list.filter((span) => span.kind === kind);

test.each<
  [string, string, (headers: Record<string, string>) => Promise<{ headers: Headers; status: number }>, string[]]
>([
  ['a REST read', 'GET rest products', (headers) => caller.get('/products', {}, headers), ['products']],
  [
    'a GraphQL query',
    'POST graphql products orders',
    (headers) => caller.graphql('{ products { has_more } orders { has_more } }', undefined, headers),
    ['products', 'orders'],
  ],
])(
  '%s has a span in the caller’s trace, with its operations and their database commands below',
  async (_what, name, send, operations) => {
    const { answer, traceId, parent, found } = await tracedCall(send);
    const request = await eventually(() => ofKind(found(), SERVER)[0]);
    expect(request).toMatchObject({
      name,
      parentSpanId: parent,
      attributes: {
        'http.response.status_code': 200,
        'scopegate.request_id': answer.headers.get('x-request-id'),
        'scopegate.key.id': key.id,
      },
      resource: {
        'service.name': 'scopegate',
        'deployment.environment.name': 'test',
        'service.version': expect.any(String),
      },
    });
    expect(answer.headers.get('traceparent')).toBe(`00-${traceId}-${request.spanId}-01`);
    await eventually(() => ofKind(found(), CLIENT).length > operations.length);
    const steps = ofKind(found(), INTERNAL);
    expect(steps.map((step) => step.name).sort()).toEqual([...operations].sort());
    for (const step of steps) expect(step.parentSpanId).toBe(request.spanId);
    const commands = ofKind(found(), CLIENT);
    const lookup = commands.find((command) => command.name === 'find api_keys');
    expect(lookup).toMatchObject({
      parentSpanId: request.spanId,
      attributes: { 'db.system.name': 'mongodb', 'db.operation.name': 'find', 'db.namespace': CONTROL_DATABASE },
    });
    for (const operation of operations) {
      const step = steps.find((step) => step.name === operation)!;
      expect(commands.find((command) => command.name === `find ${operation}`)).toMatchObject({
        parentSpanId: step.spanId,
      });
    }
  },
);

test('its log line has the trace id', async () => {
  const { answer, traceId } = await tracedCall((headers) => caller.get('/products', {}, headers));
  const id = answer.headers.get('x-request-id')!;
  const line = await eventually(() =>
    traced
      .stderr()
      .split('\n')
      .find((one) => one.includes(id) && one.endsWith('}')),
  );
  expect(JSON.parse(line)).toMatchObject({ trace_id: traceId });
});

test('the span of a stream that its caller left has the status of its answer, as its log line has', async () => {
  const left = new AbortController();
  const { found } = await tracedCall((headers) =>
    fetch(`${traced.url}/graphql`, {
      method: 'POST',
      headers: {
        ...headers,
        authorization: `Bearer ${key.key}`,
        accept: 'text/event-stream',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ query: 'subscription { events { event { id } cursor } }' }),
      signal: left.signal,
    }),
  );
  left.abort();
  const span = await eventually(() => ofKind(found(), SERVER)[0]);
  expect(span.attributes['http.response.status_code']).toBe(200);
});

test('a request without a trace starts one', async () => {
  const { headers } = await caller.get('/products');
  expect(headers.get('traceparent')).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  const id = headers.get('x-request-id');
  const span = await eventually(() => spans.find(({ attributes }) => attributes['scopegate.request_id'] === id));
  expect(span.parentSpanId ?? '').toBe('');
});

test('a caller that does not sample its trace gets no spans, but its trace id is kept', async () => {
  const { answer, traceId, found } = await tracedCall((headers) => caller.get('/products', {}, headers), '00');
  expect(answer.headers.get('traceparent')).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  // a later one has arrived
  const later = await tracedCall((headers) => caller.get('/products', {}, headers));
  await eventually(() => ofKind(later.found(), SERVER)[0]);
  expect(found()).toEqual([]);
});

test('a write has a span for its commit', async () => {
  const { found } = await tracedCall((headers) => caller.post('/requests', { text: `text ${randomUUID()}` }, headers));
  await eventually(() => ofKind(found(), CLIENT).some(({ name }) => name === 'commitTransaction'));
});

/** The spans of a request and of its only operation. */
async function bothSpans(found: () => Received[]): Promise<readonly [Received, Received]> {
  const request = await eventually(() => ofKind(found(), SERVER)[0]);
  const step = await eventually(() => ofKind(found(), INTERNAL)[0]);
  expect(ofKind(found(), INTERNAL).map(({ parentSpanId }) => parentSpanId)).toEqual([request.spanId]);
  return [request, step];
}

test.each<[string, number, string, (headers: Record<string, string>) => Promise<{ headers: Headers; status: number }>]>(
  [
    ['REST', 404, 'not_found', (headers) => caller.get(`/quotes/${randomUUID()}`, {}, headers)],
    ['REST', 400, 'invalid_request', (headers) => caller.get('/products', { cursor: 'none' }, headers)],
    [
      'GraphQL',
      200,
      'not_found',
      (headers) => caller.graphql(`{ quote(id: "${randomUUID()}") { id } }`, undefined, headers),
    ],
  ],
)(
  'a caller’s mistake (%s, %i, %s) makes neither its request’s span nor its operation’s an error, and the latter has the code',
  async (_face, status, code, send) => {
    const { answer, found } = await tracedCall(send);
    expect(answer.status).toBe(status);
    const [request, step] = await bothSpans(found);
    expect(request.attributes).toMatchObject({ 'http.response.status_code': status });
    expect(step.attributes).toMatchObject({ 'scopegate.code': code });
    for (const span of [request, step]) {
      expect(span.status.code ?? 0).toBe(0);
      expect(span.attributes).not.toHaveProperty('error.type');
    }
  },
);

test('a 503 makes its request’s span and its operation’s an error', async () => {
  const organisation = await makeOrganisation(beside);
  const own = client(traced, (await makeKey(beside, organisation)).key);
  // so that its writes are refused, and not its key
  const move = { to: 'elsewhere', mover: 'test', begun_at: new Date(), seen_at: new Date() };
  const rows = beside.databases.control.collection('organisations');
  await rows.updateOne({ _id: organisation.id as never }, { $set: { move } });
  const { answer, found } = await tracedCall((headers) => own.post('/requests', { text: 'A' }, headers));
  expect(answer.status).toBe(503);
  const [request, step] = await bothSpans(found);
  expect(request).toMatchObject({ status: { code: ERROR }, attributes: { 'error.type': '503' } });
  expect(step).toMatchObject({ status: { code: ERROR }, attributes: { 'error.type': 'unavailable' } });
  expect(step.attributes).not.toHaveProperty('scopegate.code');
});

test('health checks and the gateway’s own commands are not traced', async () => {
  const checks = await Promise.all(
    ['/readyz', '/livez'].map((path) => tracedCall((headers) => fetch(`${traced.url}${path}`, { headers }))),
  );
  for (const { answer } of checks) expect([answer.status, answer.headers.get('traceparent')]).toEqual([200, null]);
  // spans arrive in the order in which they ended
  const later = await tracedCall((headers) => caller.get('/products', {}, headers));
  await eventually(() => ofKind(later.found(), SERVER)[0]);
  for (const { found } of checks) expect(found()).toEqual([]);
  expect(spans.filter(({ name }) => /readyz|livez|operation/.test(name))).toEqual([]);
  // a span of the gateway's own would have no request above it
  const inTraces = new Set(ofKind(spans, SERVER).map(({ traceId }) => traceId));
  for (const span of spans) expect(inTraces).toContain(span.traceId);
});

test('what a request leaves to the background is in no trace', async () => {
  const fresh = await makeKey(beside, await makeOrganisation(beside));
  const own = client(traced, fresh.key);
  const { answer, found } = await tracedCall((headers) => own.get('/products', {}, headers));
  await eventually(() => ofKind(found(), SERVER)[0]);
  // the key's last use is written a moment later, and its line of the request log within two seconds
  const database = beside.databases.control;
  const keys = database.collection<{ _id: string; last_used_at?: Date | null }>('api_keys');
  await eventually(async () => (await keys.findOne({ _id: fresh.id }))?.last_used_at);
  const request_id = answer.headers.get('x-request-id');
  await eventually(() => database.collection('request_log').findOne({ request_id }));
  // a later one has arrived, and spans arrive in the order in which they ended
  const later = await tracedCall((headers) => own.get('/products', {}, headers));
  await eventually(() => ofKind(later.found(), SERVER)[0]);
  const names = ofKind(found(), CLIENT).map(({ name }) => name);
  expect(names.filter((name) => !name.startsWith('find '))).toEqual([]);
});

test('no span contains a key, a body, or a value of a query', async () => {
  const secret = `canary${randomBytes(6).toString('hex')}`;
  const { found } = await tracedCall((headers) => caller.get('/products', { q: secret }, headers));
  await eventually(() => ofKind(found(), SERVER)[0]);
  const write = await tracedCall((headers) => caller.post('/requests', { text: secret }, headers));
  await eventually(() => ofKind(write.found(), SERVER)[0]);
  const query = await tracedCall((headers) =>
    caller.graphql(`{ products(q: "${secret}") { has_more } }`, undefined, headers),
  );
  await eventually(() => ofKind(query.found(), SERVER)[0]);
  const path = await tracedCall((headers) => caller.get(`/quotes/${key.key}`, {}, headers));
  await eventually(() => ofKind(path.found(), SERVER)[0]);
  expect(text).not.toContain(secret);
  expect(text).not.toContain(key.key.slice(-49));
});

test('spans are sent to /v1/traces with the configured headers', () => {
  expect(new Set(requests.map((request) => request.url))).toEqual(new Set(['/v1/traces']));
  for (const { headers } of requests) expect(headers['x-collector-key']).toBe('se cret');
});

test('while no collector responds, requests are answered, and this is logged once', async () => {
  const away = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_BSP_SCHEDULE_DELAY: '20',
    // how long the exporter repeats a request, in milliseconds; 10 s by default
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
  };
  const own = await serve(cli, [], away);
  const answers = await Promise.all(Array.from({ length: 20 }, () => client(own, key.key).get('/products')));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  await eventually(() => own.stderr().includes('traces cannot be sent'));
  // the spans of another call cannot be sent either
  await client(own, key.key).get('/products');
  await sleep(1000);
  const { code, stderr } = await own.stop();
  expect(code).toBe(0);
  expect(stderr.match(/traces cannot be sent/g)).toHaveLength(1);
});

describe('without OTEL_EXPORTER_OTLP_ENDPOINT', () => {
  test('nothing is traced, and neither the SDK nor the exporter is loaded', async () => {
    const own = await serve(cli, [], { NODE_OPTIONS: `--require=${require.resolve('../support/loaded.cjs')}` });
    const traceparent = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`;
    const answer = await client(own, key.key).get('/products', {}, { traceparent });
    expect(answer.headers.get('traceparent')).toBeNull();
    const loaded = /^loaded: (.*)$/m.exec((await own.stop()).stderr)?.[1] ?? '';
    expect(loaded).toContain('pino');
    // prom-client always loads the api
    expect(loaded).not.toMatch(/opentelemetry\/(?!api)/);
    // nor what the first write, or the first query that is compiled, needs
    expect(loaded).not.toMatch(/sofa-api|fets/);
  });
});
