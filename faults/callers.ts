import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { acknowledgement, isSuccess, labelOf, type Call } from './client';
import type { Gateway } from './gateway';
import { sleep, until } from './timing';

/* Who calls gateways of two versions, and whom they call: a program with a key, a person in the settings, a receiver of webhooks. */

/** Between two writes, in milliseconds. */
const PAUSE = 100;

/** A program that writes and reads until it is stopped, without retries. */
export function startTraffic({ name, call }: Pick<Gateway, 'name' | 'call'>, key: string) {
  const [created, failures]: [string[], string[]] = [[], []];
  let [isOver, requests] = [false, 0];

  async function send(what: Omit<Call, 'key'>) {
    const reply = await call({ ...what, key });
    requests += 1;
    if (!isSuccess(reply)) failures.push(`${what.method} ${what.path} to the ${name} version: ${labelOf(reply)}`);
    return acknowledgement(reply);
  }

  async function work(): Promise<void> {
    while (!isOver) {
      const body = JSON.stringify({ products: [{ sku: randomUUID(), name: 'Tea', unit_price_minor: 450 }] });
      const answer = await send({ method: 'POST', path: '/api/v1/products/bulk', body, idempotencyKey: randomUUID() });
      const { results = [] } = JSON.parse(answer?.body ?? '{}') as { results?: { id: string }[] };
      created.push(...results.map(({ id }) => id));
      await send({ method: 'GET', path: `/api/v1/products/${created.at(-1) ?? ''}` });
      await send({ method: 'GET', path: '/api/v1/products?limit=5' });
      await sleep(PAUSE);
    }
  }

  const working = work();
  return {
    /** Ids of the products that were acknowledged. */
    created,
    failures,
    requests: () => requests,
    /** Stops after the requests that were sent. */
    async stop(): Promise<void> {
      isOver = true;
      await working;
    },
  };
}

export type Traffic = ReturnType<typeof startTraffic>;

/** What the pages of the settings read, in the names that all versions have. */
const READS = `{
  keys(limit: 20) { data { id name scopes state mcp } }
  webhooks { data { id url state } }
  members { data { role } }
  usage(period: last_24h) { requests buckets { start requests } operations { operation requests } }
  request_log(limit: 20) { data { id face status code operation } }
  audit_events(limit: 100) { data { id action actor details } }
}`;

/** Signs in with a link at a gateway, and reads everything in the settings of any. */
export async function signIn(gateway: Gateway, link: string) {
  const token = new URL(link).searchParams.get('link') ?? '';
  const answer = await fetch(`${baseOf(gateway)}/settings/sign-in`, {
    method: 'POST',
    headers: { accept: 'text/html' },
    body: new URLSearchParams({ link: token }),
    redirect: 'manual',
  });
  const cookie = answer.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ');
  return {
    async readsAll(at: Gateway): Promise<void> {
      const page = await fetch(`${baseOf(at)}/settings/integrations`, { headers: { accept: 'text/html', cookie } });
      const csrf = /name="csrf" value="([^"]+)"/.exec(await page.text())?.[1] ?? '';
      const headers = { 'content-type': 'application/json', cookie, 'x-csrf-token': csrf };
      const body = JSON.stringify({ query: READS });
      const read = await fetch(`${baseOf(at)}/settings/graphql`, { method: 'POST', headers, body });
      const { data, errors } = (await read.json()) as { data?: Record<string, unknown>; errors?: unknown };
      assert.deepEqual([read.status, errors], [200, undefined], `the settings of the ${at.name} version`);
      for (const [name, value] of Object.entries(data ?? {})) assert.ok(value, `${name} of the ${at.name} version`);
    },
  };
}

const baseOf = ({ port }: Gateway): string => `http://127.0.0.1:${String(port)}`;

/** A server that accepts webhooks. */
export async function startReceiver() {
  const products = new Set<string>();
  const server = createServer((request, response) => {
    void json(request).then((event) => {
      const { type, object } = event as { type: string; object: { id: string } };
      if (type === 'product.created') products.add(object.id);
      response.writeHead(204).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/hook`,
    /** Ids of the products whose creation was posted. */
    products,
    async stop(): Promise<void> {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

/** The products whose creation is in the feed. */
export async function productsInFeed({ call }: Gateway, key: string): Promise<Set<string>> {
  const products = new Set<string>();
  let [after, isMore] = ['', true];
  while (isMore) {
    const path = `/api/v1/events?types=product.created&limit=100${after === '' ? '' : `&after=${after}`}`;
    const answer = acknowledgement(await call({ method: 'GET', path, key }));
    assert.ok(answer, 'the feed of events');
    const page = JSON.parse(answer.body) as {
      data: { object: { id: string } }[];
      has_more: boolean;
      next_cursor: string;
    };
    for (const { object } of page.data) products.add(object.id);
    [after, isMore] = [encodeURIComponent(page.next_cursor), page.has_more];
  }
  return products;
}

/** Waits until all of these products are in a set. */
export async function awaitAll(
  what: string,
  made: readonly string[],
  set: () => Promise<Set<string>> | Set<string>,
  patience: number,
) {
  let missing: readonly string[] = made;
  const found = await until(async () => {
    const there = await set();
    missing = made.filter((id) => !there.has(id));
    return missing.length === 0;
  }, patience);
  assert.ok(found !== undefined, `${what}: ${String(missing.length)} of ${String(made.length)} products are missing`);
}
