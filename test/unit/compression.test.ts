import { gunzipSync } from 'node:zlib';
import { compress } from '../../src/http/compression';

/** An exchange that accepts gzip, and what was counted for it. */
function exchange() {
  const headers = new Map<string, string>();
  const counted: (readonly [bytes: number, isRefusable: boolean | undefined])[] = [];
  const response = {
    headersSent: false,
    hasHeader: (name: string) => headers.has(name),
    setHeader: (name: string, value: string) => headers.set(name, value),
    appendHeader: (name: string, value: string) => headers.set(name, value),
  };
  const bodies = {
    holdAnswer: (_of: unknown, ...call: readonly [number, boolean?]) => counted.push([call[0], call[1]]),
  };
  const one = { request: { headers: { 'accept-encoding': 'gzip' } }, response, bodies } as unknown;
  return { headers, counted, response, one: one as Parameters<typeof compress>[0] };
}

const BYTES = Buffer.from('0123456789'.repeat(10_000));

test('two answers of a process are compressed at once; others meanwhile are sent as they are', async () => {
  const all = Array.from({ length: 5 }, exchange);
  const sent = await Promise.all(all.map(({ one }) => compress(one, BYTES)));
  expect(all.map(({ headers }) => headers.get('Content-Encoding'))).toEqual(['gzip', 'gzip', ...Array(3)]);
  for (const { headers } of all) expect(headers.get('Vary')).toBe('Accept-Encoding');
  expect(gunzipSync(sent[0]!).equals(BYTES)).toBe(true);
  expect(sent[2]).toBe(BYTES);
  // and their places are free again
  const next = exchange();
  await compress(next.one, BYTES);
  expect(next.headers.get('Content-Encoding')).toBe('gzip');
});

test('while it is compressed, an answer counts twice, then as what is sent, and it is never refused', async () => {
  const { one, counted } = exchange();
  const { length } = await compress(one, BYTES);
  expect(counted).toEqual([
    [BYTES.length * 2, false],
    [length, false],
  ]);
});

test('the event loop goes on while a large answer is compressed', async () => {
  let turns = 0;
  const counting = setInterval(() => (turns += 1), 0);
  await compress(exchange().one, Buffer.alloc(16 * 1024 * 1024, BYTES));
  clearInterval(counting);
  expect(turns).toBeGreaterThan(0);
});

test('an answer that took too long, so that its caller got 503 meanwhile, keeps the headers of that', async () => {
  const { one, headers, response } = exchange();
  const sending = compress(one, BYTES);
  response.headersSent = true;
  expect(await sending).toBe(BYTES);
  expect(headers.has('Content-Encoding')).toBe(false);
});
