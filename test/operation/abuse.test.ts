import { client } from '../support/client';
import { makeKey, makeOrganisation } from '../support/factories';
import { eventually } from '../http/eventually';
import { operate, type OperatedGateway } from './gateway';
import { head, openWire } from './wire';

let gateway: OperatedGateway;
let bearer: string;

beforeAll(async () => {
  gateway = await operate();
  bearer = await authorization(gateway);
});
afterAll(() => gateway.stop());

async function authorization(of: OperatedGateway): Promise<string> {
  return `Authorization: Bearer ${(await makeKey(of, await makeOrganisation(of))).key}`;
}

const JSON_BODY = 'Content-Type: application/json';

/** Everything that comes back for a text, until the gateway closes. */
async function answerTo(text: string, url = gateway.url): Promise<string> {
  const wire = await openWire(url);
  wire.send(text);
  return wire.whole();
}

interface Problem {
  readonly status: number;
  readonly request_id: string;
}

/** Checks that an answer is one small problem that ends the connection. */
function problemOf(answer: string, status: number): Problem {
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
  expect(answer).toMatch(/^Content-Type: application\/problem\+json\r$/m);
  expect(answer).toMatch(/^Connection: close\r$/m);
  const problem = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as Problem;
  expect(problem).toMatchObject({ status, code: 'invalid_request', detail: expect.any(String) });
  expect(answer).toContain(`X-Request-Id: ${problem.request_id}\r\n`);
  return problem;
}

describe('what is no HTTP', () => {
  test.each([
    ['noise', '\x16\x03\x01\x02noise\r\n\r\n'],
    ['two lengths', `${head('POST /graphql', 'Content-Length: 5', 'Content-Length: 6')}\r\nhello`],
    ['a length and chunks', `${head('POST /graphql', 'Content-Length: 5', 'Transfer-Encoding: chunked')}\r\n0\r\n\r\n`],
    ['a header over two lines', `${head('GET /livez', 'X-One: a', ' b')}\r\n`],
    ['a space before the colon', `${head('GET /livez', 'Authorization : Bearer x')}\r\n`],
    ['a chunk that is none', `${head('POST /graphql', 'Transfer-Encoding: chunked')}\r\nzz\r\nhello\r\n`],
  ])('%s is 400, logged under the id it was told', async (_name, text) => {
    const { request_id: id } = problemOf(await answerTo(text), 400);
    await eventually(() => gateway.logs.find((line) => line.request_id === id && line.status === 400));
  });

  test('a head above 16 KiB is 431, and the caller can read that', async () => {
    problemOf(await answerTo(`${head('GET /livez', `X-Long: ${'a'.repeat(200_000)}`)}\r\n`), 431);
  });

  test('a second request is not read off a malformed first', async () => {
    const answer = await answerTo(
      `${head('POST /graphql', 'Content-Length: 1', 'Transfer-Encoding: chunked')}\r\n0\r\n\r\n${head('GET /livez')}\r\n`,
    );
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  });
});

describe('a caller that is too slow', () => {
  let strict: OperatedGateway;
  let key: string;
  beforeAll(async () => {
    strict = await operate({}, { head: 400, request: 800 });
    key = await authorization(strict);
  });
  afterAll(() => strict.stop());

  test('with its head gets 408', async () => {
    problemOf(await answerTo(head('GET /livez'), strict.url), 408);
  });

  test('with its body gets 408', async () => {
    problemOf(
      await answerTo(`${head('POST /graphql', key, JSON_BODY, 'Content-Length: 100')}\r\n{"que`, strict.url),
      408,
    );
  });

  test('with anything at all is closed', async () => {
    const silent = await openWire(strict.url);
    await silent.whole();
  });

  test('does not keep others from being answered', async () => {
    const slow = await Promise.all(Array.from({ length: 100 }, () => openWire(strict.url)));
    for (const { send } of slow) send('GET /livez HTTP/1.1\r\n');
    expect((await fetch(`${strict.url}/livez`)).status).toBe(200);
    await Promise.all(slow.map(({ whole }) => whole()));
  });
});

describe('several Authorization headers', () => {
  test.each([
    ['GET /api/v1/me', ''],
    ['POST /graphql', '{"query":"{ me { key { id } } }"}'],
  ])('are no key, even if each is valid: %s', async (line, body) => {
    const headers = [bearer, bearer, JSON_BODY, `Content-Length: ${String(body.length)}`, 'Connection: close'];
    expect(await answerTo(`${head(line, ...headers)}\r\n${body}`)).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('a caller that asks before it sends its body', () => {
  const expecting = (...headers: string[]): string =>
    `${head('POST /api/v1/requests', 'Expect: 100-continue', ...headers)}\r\n`;

  test.each([
    ['without a key', 401, [JSON_BODY, 'Content-Length: 100']],
    ['of another type', 415, ['Content-Type: text/plain', 'Content-Length: 100']],
    ['that is too large', 413, [JSON_BODY, 'Content-Length: 99000000']],
  ])('is refused by its head: %s', async (_name, status, headers) => {
    const answer = await answerTo(expecting(...(status === 401 ? [] : [bearer]), ...headers));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
    expect(answer).toMatch(/^Connection: close\r$/m);
  });

  test('is asked for it otherwise, and may keep its connection', async () => {
    const body = '{"text":"Asked first"}';
    const wire = await openWire(gateway.url);
    wire.send(expecting(bearer, JSON_BODY, `Content-Length: ${String(body.length)}`));
    await wire.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    wire.send(body);
    await wire.until(/HTTP\/1\.1 201 Created\r\n(.+\r\n)*Connection: keep-alive\r\n[^]*\}$/);
    wire.send(`${head('GET /livez', 'Connection: close')}\r\n`);
    expect(await wire.whole()).toMatch(/\{"status":"ok"\}$/);
  });

  test('for anything else gets 417', async () => {
    const answer = await answerTo(`${head('GET /livez', 'Expect: a-miracle', 'Connection: close')}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 417 /);
  });
});

test('one connection more than MAX_CONNECTIONS is closed and counted; one that ends makes room', async () => {
  const small = await operate({ MAX_CONNECTIONS: '2' });
  try {
    const [first, second] = [await openWire(small.url), await openWire(small.url)];
    first.send(`${head('GET /livez')}\r\n`);
    await first.until(/"ok"/);
    expect(await (await openWire(small.url)).whole()).toBe('');
    second.socket.destroy();
    const metrics = await eventually(async () => {
      first.send(`${head('GET /metrics')}\r\n`);
      const text = await first.until(/scopegate_http_connections \d+\n/);
      return /^scopegate_http_connections_dropped_total (\d+)$/m.exec(text)?.[1];
    });
    expect(metrics).toBe('1');
    await eventually(
      async () =>
        (
          await client(small)
            .get('/openapi.json')
            .catch(() => undefined)
        )?.status === 200,
    );
  } finally {
    await small.stop();
  }
});

test('requests sent without waiting for answers are answered in their order', async () => {
  const answer = await answerTo(
    `${head('GET /livez')}\r\n${head('GET /api/v1/me')}\r\n${head('GET /readyz', 'Connection: close')}\r\n`,
  );
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 401', 'HTTP/1.1 200']);
});
