import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onEnd } from './cleanup';
import type { Rig } from './rig';

/* Receivers of webhooks, each with its own way to fail. */

/** What a receiver does with a post; it never answers if undefined. */
type Manner = (
  post: { readonly number: number; readonly isAgain: boolean },
  response: ServerResponse,
) => number | undefined;

/** Posts that hang or are asked to come later; each costs seconds. */
const [HANGS, LATER] = [3, [20, 150, 300]];
const EVERY = 50;

const MANNERS = {
  good: () => 200,
  // once, so that it is accepted at the second attempt
  failing: ({ number, isAgain }) => (number % EVERY === 0 && !isAgain ? 500 : 200),
  hanging: ({ number, isAgain }) => (number <= HANGS && !isAgain ? undefined : 204),
  busy: ({ number }, response) => {
    if (!LATER.includes(number)) return 200;
    response.setHeader('Retry-After', '1');
    return 429;
  },
  gone: () => 410,
} satisfies Record<string, Manner>;

/** Receivers that accept everything in the end. */
const ACCEPTING = ['good', 'failing', 'hanging', 'busy'] as const;

export interface Receiver {
  readonly name: string;
  /** Ids of events in the order in which they were first accepted. */
  readonly accepted: ReadonlySet<string>;
  /** Posts in all, and those whose signature was not right. */
  posts: number;
  forged: number;
}

/** The variables that gateways need to send to them. */
export const FOR_RECEIVERS = {
  WEBHOOK_SECRET: 'the webhooks of the fault runs, thirty-two',
  WEBHOOK_ALLOWED_RANGES: '127.0.0.1/32',
};

/** Starts receivers, each with an endpoint of the organisation. */
export async function startReceivers({ scopegate }: Pick<Rig, 'scopegate'>, organisationId: string) {
  const servers: Server[] = [];
  let trapped = 0;
  const trap = await listen('127.0.0.2', (_request, response) => {
    trapped += 1;
    response.end();
  });
  const redirecting: Manner = (_post, response) => {
    response.setHeader('Location', trap);
    return 302;
  };
  const receivers = new Map<string, Receiver>();
  for (const [name, manner] of Object.entries<Manner>({ ...MANNERS, redirecting })) await add(name, manner);
  const refused = await create(trap).then(
    () => false,
    () => true,
  );

  async function listen(
    host: string,
    answer: (request: IncomingMessage, response: ServerResponse) => void,
  ): Promise<string> {
    const server = createServer(answer);
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, host, resolve));
    return `http://${host}:${String((server.address() as AddressInfo).port)}/`;
  }

  function create(url: string): Promise<{ id: string; secret: string }> {
    return scopegate(['webhook', 'create', '--org', organisationId, '--url', url], FOR_RECEIVERS);
  }

  async function add(name: string, manner: Manner): Promise<void> {
    const [accepted, seen] = [new Set<string>(), new Set<string>()];
    const receiver: Receiver = { name, accepted, posts: 0, forged: 0 };
    let secret = '';
    const url = await listen('127.0.0.1', (request, response) => {
      void textOf(request).then((body) => {
        receiver.posts += 1;
        const id = String(request.headers['webhook-id']);
        if (!isGenuine(secret, body, request)) receiver.forged += 1;
        const status = manner({ number: receiver.posts, isAgain: seen.has(id) }, response);
        seen.add(id);
        if (status === undefined) return;
        if (status < 300) accepted.add(id);
        response.writeHead(status).end();
      });
    });
    ({ secret } = await create(url));
    receivers.set(name, receiver);
  }

  const stop = onEnd('receivers', () => {
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
    return Promise.resolve();
  });

  return {
    accepting: ACCEPTING.flatMap((name) => receivers.get(name) ?? []),
    all: [...receivers.values()],
    /** Requests to an address that webhooks may not be sent to, and whether it was refused as a URL. */
    trapped: () => trapped,
    refused,
    states: async (): Promise<string[]> => {
      const list = await scopegate<{ state: string; disabled_reason: string | null }[]>(
        ['webhook', 'list', '--org', organisationId],
        FOR_RECEIVERS,
      );
      return list.map(({ state }) => state);
    },
    stop,
  };
}

export type Receivers = Awaited<ReturnType<typeof startReceivers>>;

async function textOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}

function isGenuine(secret: string, body: string, { headers }: IncomingMessage): boolean {
  try {
    new Webhook(secret).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

/** What a receiver that accepts everything got, compared with the feed: ids in order by object. */
export function compareWith({ accepted }: Receiver, feed: readonly { readonly id: string; readonly object: string }[]) {
  const objectOf = new Map(feed.map(({ id, object }) => [id, object]));
  const got = new Map<string, string[]>();
  for (const id of accepted) {
    const object = objectOf.get(id) ?? 'unknown';
    got.set(object, [...(got.get(object) ?? []), id]);
  }
  const wanted = new Map<string, string[]>();
  for (const { id, object } of feed) wanted.set(object, [...(wanted.get(object) ?? []), id]);
  return {
    missing: feed.filter(({ id }) => !accepted.has(id)).length,
    unknown: got.get('unknown')?.length ?? 0,
    disordered: [...wanted].filter(([object, ids]) => {
      const its = got.get(object) ?? [];
      return its.join() !== ids.filter((id) => accepted.has(id)).join();
    }).length,
  };
}
