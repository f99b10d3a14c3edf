import { pbkdf2 } from 'node:crypto';
import { createSocket } from 'node:dgram';
import type { ResolverOptions } from 'node:dns';
import { lookup, Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { createAddressPolicy, dnsNames } from '../../../src/webhooks/addresses';
import { type Attempt, createPoster, type Poster } from '../../../src/webhooks/post';
import { within as inTime } from '../../../src/async/timeout';
import { eventually } from '../http/eventually';

/* Posts to names whose name server does not respond. */

const silent = createSocket('udp4');
const asked: Buffer[] = [];
beforeAll(async () => {
  silent.on('message', (query) => asked.push(query)).bind(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(() => silent.close());
beforeEach(() => {
  asked.length = 0;
});

const posters: Poster[] = [];
afterAll(() => {
  for (const poster of posters) poster.close();
});

/** `within`: how long an attempt may take, in milliseconds. */
function posterOf(resolver: Resolver, within?: number): Poster {
  const poster = createPoster({
    policy: createAddressPolicy([]),
    resolve: dnsNames(resolver),
    ...(within !== undefined && { within }),
  });
  posters.push(poster);
  return poster;
}

const send = (poster: Poster, url: string): Promise<Attempt> => poster.post({ url, headers: {}, body: '{}' });

function resolverOf(options: ResolverOptions): Resolver {
  const resolver = new Resolver(options);
  resolver.setServers([`127.0.0.1:${String(silent.address().port)}`]);
  return resolver;
}

test('an attempt fails when its lookup times out, or when its own timeout is shorter', async () => {
  const short = posterOf(resolverOf({ timeout: 200, tries: 1 }));
  expect(await send(short, 'https://slow.example/')).toMatchObject({
    ok: false,
    status: null,
    error: 'the URL has no public address',
  });
  const resolver = resolverOf({ timeout: 60_000, tries: 1 });
  const long = posterOf(resolver, 300);
  expect(await send(long, 'https://slow.example/')).toMatchObject({
    ok: false,
    status: null,
    error: 'no answer within 0.3 s',
  });
  resolver.cancel();
});

test("twenty waiting attempts leave the process's four threads free for files, other names and hashes", async () => {
  const resolver = resolverOf({ timeout: 60_000, tries: 1 });
  // a blocked thread would be blocked for longer than this
  const poster = posterOf(resolver, 120_000);
  let ended = 0;
  const attempts = Array.from({ length: 20 }, async (_none, at) => {
    const outcome = await send(poster, `https://slow-${String(at)}.example/`);
    ended += 1;
    return outcome;
  });
  const isAsked = (at: number): boolean => asked.some((query) => query.includes(`slow-${String(at)}\x07example`));
  await eventually(() => attempts.every((_attempt, at) => isAsked(at)));
  // far more than a slow machine needs for it
  await inTime(
    10_000,
    Promise.all([stat(__filename), lookup('localhost'), promisify(pbkdf2)('a', 'b', 1, 32, 'sha256')]),
  );
  expect(ended).toBe(0);
  resolver.cancel();
  for (const { error } of await Promise.all(attempts)) expect(error).toBe('the URL has no public address');
});
