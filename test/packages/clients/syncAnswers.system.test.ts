import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { eventually } from '../../api/http/eventually';
import { TOKENS } from '../../admin/operator/operator';
import { driver, served } from '../../support/gateway';
import { syncScene } from './syncScene';

/* @scopegate/sync: an app's collections against a server whose answers are those of the test. */

const gateway = served(TOKENS);
const bare = driver();
const stops: (() => void)[] = [];
let scene: Awaited<ReturnType<typeof syncScene>>;

beforeEach(async () => {
  scene = await syncScene(gateway, bare);
});
afterEach(async () => {
  await scene.stop();
  for (const stop of stops.splice(0)) stop();
});

/** Answers requests in place of the gateway. */
async function answering(answer: (body: string, url: URL, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      answer(body, new URL(request.url!, 'http://gateway'), response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`;
}

test('Retry-After is waited for, and lines without an answer are sent again', async () => {
  const bodies: string[][] = [];
  const created = '{"index":0,"outcome":"created","errors":[]}\n';
  const url = await answering((body, _url, response) => {
    bodies.push(body.split('\n'));
    if (bodies.length === 1) response.writeHead(503, { 'retry-after': '1' }).end();
    else response.end(created.repeat(bodies.length === 2 ? 1 : bodies.at(-1)!.length));
  });
  await scene.offers.insertMany([1, 2, 3].map((_id) => ({ _id, account: 'a', title: `N${String(_id)}` })));
  const waits: number[] = [];
  const opened = scene.open({ gateway: { url, token: 'x' }, onRetry: (_error, seconds) => void waits.push(seconds) });
  expect((await opened.backfill()).created).toBe(3);
  expect(bodies.map((lines) => lines.length)).toEqual([3, 3, 2]);
  expect(waits[0]).toBeGreaterThanOrEqual(1);
  const element = JSON.parse(bodies[2]![0]!) as object;
  expect(element).toMatchObject({ organisation: 'ref:a', type: 'quote', version: expect.any(Number) });
  expect(element).toMatchObject({ put: { external_ref: '2', number: 'N2' } });
});

test('events come one after another, again if the handler rejects, and from the stored cursor; a lost log is a feed.gap', async () => {
  const asked: (string | null)[] = [];
  const url = await answering((_body, { searchParams }, response) => {
    const after = searchParams.get('after');
    asked.push(after);
    if (after === 'c2') response.writeHead(410).end();
    const isLater = asked.includes('c2');
    const pages = new Map([
      ['now', { ids: [], next_cursor: isLater ? 'c3' : 'c1' }],
      ['c1', { ids: ['e1', 'e2'], next_cursor: 'c2' }],
      ['c3', { ids: ['e3'], next_cursor: 'c4' }],
    ]);
    const page = pages.get(after!);
    if (!page) return;
    const data = page.ids.map((id) => ({ id, type: 'quote.created' }));
    response.end(JSON.stringify({ data, next_cursor: page.next_cursor }));
  });
  const handled: unknown[] = [];
  const handler = ({ id, type }: { id: string | null; type: string }): void => {
    handled.push(id ?? type);
    if (handled.length === 2) throw new Error('not now');
  };
  const opened = scene.open({ gateway: { url, token: 'x' } });
  const following = opened.follow(handler);
  await eventually(async () => (await scene.positions.findOne({ _id: 'events' }))?.cursor === 'c4');
  await opened.stop();
  await following;
  expect(handled).toEqual(['e1', 'e2', 'e2', 'feed.gap', 'e3']);
  const later: unknown[] = [];
  // another server, since the last request of the one that was stopped may still arrive
  const other = await answering((_body, { searchParams }) => void later.push(searchParams.get('after')));
  void scene.open({ gateway: { url: other, token: 'x' } }).follow(handler);
  await eventually(() => later.length > 0);
  expect(later[0]).toBe('c4');
});
