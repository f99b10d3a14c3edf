import { makeKey, makeOrganisation } from '../support/factories';
import { served, type TestGateway } from '../support/gateway';
import { eventually } from '../api/http/eventually';
import { head, openWire } from './wire';

let [bearer, strictBearer] = ['', ''];

const gateway = served();
/** The time for a head begins with the connection. */
const strict = served({}, { head: 10_000, request: 20_000 });
beforeAll(async () => {
  [bearer, strictBearer] = [await authorization(gateway), await authorization(strict)];
});

async function authorization(of: TestGateway): Promise<string> {
  return `Authorization: Bearer ${(await makeKey(of, await makeOrganisation(of))).key}`;
}

const JSON_BODY = 'Content-Type: application/json';

/** Sends a text and returns everything received until the gateway closes the connection. */
async function answerTo(text: string, url = gateway.url): Promise<string> {
  const wire = await openWire(url);
  wire.send(text);
  return wire.whole();
}

interface Problem {
  readonly status: number;
  readonly request_id: string;
}

/** Expects that an answer is a problem that closes the connection. */
function problemOf(answer: string, status: number): Problem {
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
  expect(answer).toMatch(/^Content-Type: application\/problem\+json\r$/m);
  expect(answer).toMatch(/^Connection: close\r$/m);
  const problem = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n'))) as Problem;
  expect(problem).toMatchObject({ status, code: 'invalid_request', detail: expect.any(String) });
  expect(answer).toContain(`X-Request-Id: ${problem.request_id}\r\n`);
  return problem;
}

describe('a malformed request', () => {
  test.each([
    ['with binary noise', '\x16\x03\x01\x02noise\r\n\r\n'],
    ['with two lengths', `${head('POST /graphql', 'Content-Length: 5', 'Content-Length: 6')}\r\nhello`],
    [
      'with a length and chunked encoding',
      `${head('POST /graphql', 'Content-Length: 5', 'Transfer-Encoding: chunked')}\r\n0\r\n\r\n`,
    ],
    ['with a folded header', `${head('GET /livez', 'X-One: a', ' b')}\r\n`],
    ['with a space before a colon', `${head('GET /livez', 'Authorization : Bearer x')}\r\n`],
    ['with an invalid chunk', `${head('POST /graphql', 'Transfer-Encoding: chunked')}\r\nzz\r\nhello\r\n`],
  ])('%s gets 400 and is logged with the request id of the answer', async (_name, text) => {
    const { request_id: id } = problemOf(await answerTo(text), 400);
    await eventually(() => gateway.logs.find((line) => line.request_id === id && line.status === 400));
  });

  test('headers over 16 KiB get 431, which the caller can read', async () => {
    problemOf(await answerTo(`${head('GET /livez', `X-Long: ${'a'.repeat(200_000)}`)}\r\n`), 431);
  });

  test('is not followed by a second request on the same connection', async () => {
    const answer = await answerTo(
      `${head('POST /graphql', 'Content-Length: 1', 'Transfer-Encoding: chunked')}\r\n0\r\n\r\n${head('GET /livez')}\r\n`,
    );
    expect(answer.match(/HTTP\/1\.1 \d/g)).toHaveLength(1);
  });
});

// beside each other, since they wait for the gateway to give up
describe('a caller that is too slow', () => {
  test.concurrent('with its headers gets 408', async () => {
    problemOf(await answerTo(head('GET /livez'), strict.url), 408);
  });

  test.concurrent('with its body gets 408', async () => {
    const answer = await answerTo(
      `${head('POST /graphql?a=b', strictBearer, JSON_BODY, 'Content-Length: 100')}\r\n{"que`,
      strict.url,
    );
    const { request_id } = problemOf(answer, 408);
    // the request's own line, with its caller, has the same id
    await eventually(() => strict.logs.find((line) => line.request_id === request_id && line.key_id !== undefined));
    const refused = strict.logs.find((line) => line.request_id === request_id && line.status === 408);
    expect(refused).toMatchObject({ reason: 'ERR_HTTP_REQUEST_TIMEOUT', method: 'POST', path: '/graphql' });
  });

  test.concurrent('to send anything is disconnected', async () => {
    const silent = await openWire(strict.url);
    await silent.whole();
  });

  test.concurrent('does not block others', async () => {
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
  ])('are rejected, even if each is valid: %s', async (line, body) => {
    const headers = [bearer, bearer, JSON_BODY, `Content-Length: ${String(body.length)}`, 'Connection: close'];
    expect(await answerTo(`${head(line, ...headers)}\r\n${body}`)).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('a caller that sends Expect: 100-continue', () => {
  const expecting = (...headers: string[]): string =>
    `${head('POST /api/v1/requests', 'Expect: 100-continue', ...headers)}\r\n`;

  // beside each other, since the gateway takes what comes after its answer for 5 s before it closes the connection
  test.concurrent.each([
    ['without a key', 401, [JSON_BODY, 'Content-Length: 100']],
    ['with another type', 415, ['Content-Type: text/plain', 'Content-Length: 100']],
    ['with a body that is too large', 413, [JSON_BODY, 'Content-Length: 99000000']],
  ])('is rejected before its body: %s', async (_name, status, headers) => {
    const answer = await answerTo(expecting(...(status === 401 ? [] : [bearer]), ...headers));
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${String(status)} `));
    expect(answer).toMatch(/^Connection: close\r$/m);
  });

  test('otherwise gets 100 Continue and can keep its connection', async () => {
    const body = '{"text":"Asked first"}';
    const wire = await openWire(gateway.url);
    wire.send(expecting(bearer, JSON_BODY, `Content-Length: ${String(body.length)}`));
    await wire.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    wire.send(body);
    await wire.until(/HTTP\/1\.1 201 Created\r\n(.+\r\n)*Connection: keep-alive\r\n[^]*\}$/);
    wire.send(`${head('GET /livez', 'Connection: close')}\r\n`);
    expect(await wire.whole()).toMatch(/\{"status":"ok"\}$/);
  });
});
