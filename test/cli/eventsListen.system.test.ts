import { randomBytes, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import type { Json } from '../support/client';
import { driver, served } from '../support/gateway';
import { commandLine, type Followed, followed } from './commandLine';
import { eventually } from '../api/http/eventually';
import { type Receiver, startReceiver, stopReceivers } from '../support/receiver';
import { eventRow, eventScene, type EventScene } from '../support/fixtures/events';

/*
 * `scopegate events listen`: what its receiver gets, whatever gateway and receiver do. It calls with the client (test/packages/clients/calls.ts) and
 * posts as a gateway does (test/api/webhooks/posting.test.ts), which test what those make of answers. Beside each other, since they mostly wait.
 */

const cli = commandLine({ MONGODB_URI: 'mongodb://127.0.0.1:1' });
const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const gateway = served();
const bare = driver();
afterAll(stopReceivers);

function listen({ key }: Pick<EventScene, 'key'>, site: Pick<Receiver, 'url'>, ...args: string[]): Followed {
  const command = ['events', 'listen', '--forward', site.url, ...args];
  return followed(cli, command, { SCOPEGATE_KEY: key, SCOPEGATE_URL: gateway.url });
}

/** What a command says that ends by itself with this code. */
function refused(
  code: number,
  { key, url = gateway.url }: { readonly key: string; readonly url?: string },
  site: Receiver,
  ...args: string[]
) {
  const line = commandLine({ ...cli.environment, SCOPEGATE_KEY: key, SCOPEGATE_URL: url });
  return line.failed(code, 'events', 'listen', '--forward', site.url, ...args);
}

const eventIds = (site: Receiver): string[] => site.arrived.map(({ event }): string => event.id);
const ready = (command: Followed): Promise<unknown> => command.says(/Forwarding the events/);
const cursorIn = (command: Followed): string => /--after (\S+)/.exec(command.stderr())?.[1] ?? '';

test.concurrent(
  'each event is posted once, in order, exactly as in the feed, signed with the secret that was printed',
  async () => {
    const [scene, site] = [await eventScene(gateway, bare), await startReceiver()];
    await scene.rows.insertOne(eventRow(0));
    const address = `${site.url}/hooks/`;
    const command = listen(scene, { url: address });
    // with its slash, which some frameworks insist on
    await command.says(new RegExp(`to ${address}\\. Press`));
    const [, secret = ''] = await command.says(/The secret to verify them with: (whsec_\S+)/);
    const at = new Date();
    const gap = { ...eventRow(3, 'feed.gap'), object: null, changes: [], gap: { from: at, to: at } };
    await scene.rows.insertMany([eventRow(1), eventRow(2, 'order.status_changed'), gap]);
    const lines = await command.until(3);
    const { body: feed } = await scene.caller.get('/events');
    expect(site.arrived.map(({ event }): Json => event)).toEqual(feed.data.slice(1));
    for (const { headers, body, event } of site.arrived) {
      expect(new Webhook(secret).verify(body, headers)).toEqual(event);
      expect(headers).toMatchObject({ 'webhook-id': event.id, 'content-type': 'application/json' });
    }
    expect(lines[1]).toMatch(/^\d{4}-\S+Z {2}order\.status_changed {2}[0-9a-f-]{36} {2}204 {2}\d+ ms$/);
    expect(lines[2]).toMatch(/feed\.gap {2}- {2}204/);
    expect(await command.end('SIGINT')).toBe(0);
    expect(command.stderr()).toContain('sent 3, left out 0');
  },
);

const CHOSEN = ['--secret', SECRET, '--types', 'order.created,order.deleted', '--json'];

/** Ends a listener while the last event of a page is not answered. */
async function endWithinPage() {
  const [scene, site] = [await eventScene(gateway, bare), await startReceiver()];
  const types = ['quote.created', 'order.created', 'order.deleted', 'order.created'];
  await scene.rows.insertMany(types.map((type, at) => eventRow(at, type)));
  site.answer = (_arrival, response) => void (site.arrived.length < 3 && response.writeHead(204).end());
  const first = listen(scene, site, ...CHOSEN, '--after', 'beginning');
  const [line = ''] = await first.until(2);
  await eventually(() => site.arrived.length === 3);
  expect(await first.end('SIGTERM')).toBe(0);
  return { scene, site, first, line };
}

test.concurrent('--secret, --types, --after and --json', async () => {
  let ended = await endWithinPage();
  // where its cursor cannot be read within 3 s, the page is sent again by design
  for (let tries = 1; tries < 5 && cursorIn(ended.first) === 'beginning'; tries += 1) ended = await endWithinPage();
  const { scene, site, first, line } = ended;
  const { headers, body, event } = site.arrived[0]!;
  expect(new Webhook(SECRET).verify(body, headers)).toEqual(event);
  expect(JSON.parse(line)).toEqual({
    at: expect.any(String),
    id: event.id,
    type: 'order.created',
    object: event.object,
    status: 204,
    ms: expect.any(Number),
    error: null,
  });
  expect(first.stderr()).not.toContain(SECRET);
  expect(first.stderr()).toContain('sent 2, left out 0');
  site.answer = () => 204;
  await scene.rows.insertOne(eventRow(4, 'order.updated'));
  const second = listen(scene, site, ...CHOSEN, '--after', cursorIn(first));
  await second.until(1);
  expect(await second.end('SIGINT')).toBe(0);
  const ids = site.arrived.map(({ event: one }) => one.id as string);
  // that last one alone again
  expect(ids.slice(2).every((id) => id === ids[2])).toBe(true);
  expect(new Set(ids).size).toBe(3);
});

test.concurrent(
  'while nothing listens the event waits, and is then delivered with all later ones in order',
  async () => {
    const [scene, site] = [await eventScene(gateway, bare), await startReceiver()];
    const command = listen(scene, site);
    await ready(command);
    await site.stop();
    await scene.rows.insertMany([eventRow(0), eventRow(1), eventRow(2)]);
    await command.says(/nothing listens at .*; the event waits/);
    // more attempts than for a refused event
    await command.until(5);
    await site.open();
    const { body: feed } = await scene.caller.get('/events');
    const wanted = (feed.data as Json[]).map(({ id }): string => id);
    await command.until(5 + 3);
    for (; site.arrived.length < 3;) await command.until(command.lines().length + 1);
    expect(eventIds(site)).toEqual(wanted);
    expect(await command.end('SIGINT')).toBe(0);
    expect(command.stderr()).toContain('sent 3, left out 0');
  },
);

test.concurrent(
  'a refused event is sent 4 times with new signatures, no sooner than Retry-After says, then skipped and reported',
  async () => {
    const [scene, site] = [await eventScene(gateway, bare), await startReceiver()];
    let refused: string | undefined;
    const times: number[] = [];
    site.answer = ({ event }, response) => {
      times.push(performance.now());
      if (refused === undefined) response.setHeader('retry-after', '3');
      refused ??= event.id as string;
      if (event.id === refused) response.writeHead(503).end('out of \u001b[31mtea');
      else response.writeHead(200).end();
    };
    const command = listen(scene, site);
    await ready(command);
    await scene.rows.insertMany([eventRow(0), eventRow(1)]);
    const lines = await command.until(5);
    expect(eventIds(site).map((id) => id === refused)).toEqual([true, true, true, true, false]);
    expect(lines[0]).toContain('  503  ');
    expect(times[1]! - times[0]!).toBeGreaterThan(2900);
    // a receiver's text cannot move the cursor
    expect(lines[0]).toContain('out of \\u001b[31mtea');
    expect(new Set(site.arrived.map(({ headers }) => headers['webhook-timestamp'])).size).toBeGreaterThan(2);
    await command.says(new RegExp(`${refused!} was sent 4 times and not accepted`));
    expect(await command.end('SIGINT')).toBe(0);
    expect(command.stderr()).toContain('sent 1, left out 1');
  },
);

describe('a gateway', () => {
  /** A page of a gateway without events. */
  const page = (cursor: string, data: unknown[] = []) => ({ data, has_more: false, next_cursor: cursor });
  const sends =
    (status: number, body: object, headers = {}) =>
    (response: ServerResponse): void => {
      const type = `application/${status < 400 ? '' : 'problem+'}json`;
      response.writeHead(status, { 'content-type': type, ...headers }).end(JSON.stringify({ ...body, request_id: '' }));
    };

  /** A listener on a site that stands in for a gateway. */
  function listenTo(fake: Receiver, site: Receiver): Followed {
    const args = ['events', 'listen', '--forward', site.url, '--url', new URL(fake.url).origin];
    return followed(cli, args, { SCOPEGATE_KEY: 'key' });
  }

  /** A gateway's answers by number of the request; after the last one, requests are held open. */
  async function answering(
    ...answers: ((response: ServerResponse) => void)[]
  ): Promise<[Receiver, string[], number[]]> {
    const fake = await startReceiver();
    const [paths, times] = [[] as string[], [] as number[]];
    fake.answer = (_request, response) => {
      paths.push(response.req.url ?? '');
      times.push(performance.now());
      answers[paths.length - 1]?.(response);
    };
    return [fake, paths, times];
  }

  test.concurrent('that is busy, rate limits, or disconnects and recovers loses no event', async () => {
    const event = { id: randomUUID(), type: 'order.created', object: null };
    const [fake, paths, times] = await answering(
      sends(503, { code: 'unavailable', detail: 'Starting.' }, { 'retry-after': '1' }),
      sends(200, page('one')),
      sends(429, { code: 'rate_limited', detail: 'Too many.' }, { 'retry-after': '2' }),
      (response) => void response.destroy(),
      sends(200, page('two', [event])),
    );
    const site = await startReceiver();
    const command = listenTo(fake, site);
    await command.until(1);
    expect(site.arrived[0]!.event).toEqual(event);
    const afters = paths.map((path) => new URLSearchParams(path.split('?')[1]).get('after'));
    // `now` is asked for without waiting, since its place would be lost with the connection
    expect(afters.slice(0, 5)).toEqual(['now', 'now', 'one', 'one', 'one']);
    expect(paths.slice(0, 3).map((path) => /wait=(\d+)/.exec(path)?.[1])).toEqual(['0', '0', '20']);
    expect(times[3]! - times[2]!).toBeGreaterThan(1900);
    expect(command.stderr()).toMatch(/429, rate_limited: Too many\.; asking again until it answers[\s\S]*going on/);
    await command.end('SIGINT');
  });

  test.concurrent('that responds without waiting is polled at most once a second', async () => {
    const [fake, paths, times] = await answering(...Array.from({ length: 1000 }, () => sends(200, page('same'))));
    const command = listenTo(fake, await startReceiver());
    await ready(command);
    await new Promise((resolve) => setTimeout(resolve, 3000));
    const asked = paths.length;
    expect(asked).toBeLessThanOrEqual(2 + Math.ceil((performance.now() - times[0]!) / 1000));
    await command.end('SIGINT');
  });

  test.concurrent('that is none, or that is not there, is reported', async () => {
    const [html] = await answering((response) => void response.writeHead(200).end('<html>'));
    const other = { key: 'key', url: new URL(html.url).origin };
    expect(await refused(1, other, html)).toContain('answered 200, but that is not a Scopegate response');
    const gone = await startReceiver();
    await gone.stop();
    expect(await refused(1, { key: 'key', url: new URL(gone.url).origin }, gone)).toMatch(
      /No answer from http:\S+: ECONNREFUSED; start it, or name another/,
    );
    // an empty variable is none; the demo may run
    expect(await refused(1, { key: 'key', url: '' }, gone)).toContain('http://127.0.0.1:4000');
  });
});

test.concurrent(
  'a key that is invalid, lacks the scope, or is revoked while running ends the command with the reason',
  async () => {
    const site = await startReceiver();
    expect(await refused(1, { key: 'svc_live_wrong' }, site)).toMatch(
      /401, unauthenticated: .* Check the key in SCOPEGATE_KEY or --key\./,
    );
    const scene = await eventScene(gateway, bare, ['products:read']);
    expect(await refused(1, scene, site, '--types', 'order.created')).toMatch(
      /403, insufficient_scope: .* scope orders:read\./,
    );
    expect(await refused(2, scene, site, '--types', 'product.eaten')).toMatch(
      /400, invalid_request: .*product\.created/,
    );
    const revoked = listen(scene, site);
    await ready(revoked);
    await gateway.control.apiKeys.revoke(scene.keyId);
    expect(await revoked.end()).toBe(1);
    expect(revoked.stderr()).toContain('401, unauthenticated');
    expect(revoked.stderr()).toMatch(/to go on from here: --after \S+/);
  },
);

test.concurrent('an expired or malformed cursor ends the command with the reason', async () => {
  const [scene, site] = [await eventScene(gateway, bare), await startReceiver()];
  const old = { ...eventRow(0), _id: eventRow(-40 * 86_400)._id };
  await scene.rows.insertOne(old);
  const { body } = await scene.caller.get('/events', { limit: 1, after: 'now' });
  expect(await refused(1, scene, site, '--after', body.next_cursor as string)).toMatch(
    /410, cursor_expired: .* Begin with --after beginning, or --after now\./,
  );
  expect(await refused(2, scene, site, '--after', 'nonsense')).toContain('is not a cursor of this list');
});
