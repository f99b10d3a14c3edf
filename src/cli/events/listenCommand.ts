import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { MINUTE, retryAfterOf, SECOND } from '../../units';
import { version } from '../../package';
import { secretText, signedHeaders } from '../../webhooks/signing';
import { CommandFailure, untilStopped, usageFailure } from '../ending';
import type { JsonOption } from '../help';
import { createTrouble, note, paint, plain, printSlowly, say } from '../terminal';
import {
  askFeed,
  type FeedClient,
  type FeedEvent,
  type FeedPage,
  type FeedQuery,
  NotNow,
  reasonOf,
  textWithin,
} from './feedClient';

interface ListenOptions extends JsonOption {
  readonly forward: string;
  readonly url: string;
  readonly key?: string;
  readonly types?: readonly string[];
  readonly secret?: Buffer;
  readonly after: string;
}

/** How long a request waits for an event, in seconds. */
const WAIT = 20;
/** An empty page that comes sooner is no wait, as of a gateway that drains; in milliseconds. */
const LEAST_WAIT = 1000;
/** How often an event is sent that the receiver does not accept. */
const TRIES = 4;
/** The shortest and the longest delay before it is asked or sent again, in milliseconds. */
const LEAST_DELAY = SECOND;
const LONGEST_DELAY = 15 * SECOND;
/** The same while nothing listens, since people wait for a receiver that they have started. */
const LONGEST_DOWN = 3 * SECOND;
/** The longest that a receiver or a gateway can make it wait, in milliseconds. */
const LONGEST_RETRY_AFTER = MINUTE;

/** How long a receiver may take to answer, in milliseconds, as for webhooks that a gateway delivers. */
const ANSWERED_WITHIN = 15_000;
/** Bytes of an answer that are read. */
const MOST_KEPT = 1024;
/** Characters of it that are shown. */
const MOST_SHOWN = 200;

/** Nothing received it: there was no connection. */
const NO_CONNECTION: ReadonlySet<string> = new Set([
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'],
]);

/** `scopegate events listen`. Resolves after it is stopped. */
export async function listenCommand(options: ListenOptions): Promise<void> {
  const { forward, url, key, types, after, json } = options;
  if (key === undefined || key === '') throw usageFailure('no API key: set SCOPEGATE_KEY, or give --key');
  const secret = options.secret ?? randomBytes(24);
  await untilStopped(async (signal) => {
    const feed = { url, key, types, signal };
    let cursor = await firstCursor(feed, after);
    say(`Forwarding the events of ${url} to ${forward}. Press Ctrl-C to stop.`);
    if (!options.secret) say(`The secret to verify them with: ${secretText(secret)}`);
    const receiver = { url: forward, secret, signal };
    let [sent, leftOut] = [0, 0];
    try {
      for (;;) {
        const page = await nextPage(feed, cursor);
        for (const event of page.data) {
          if (await deliver(event, receiver, json)) sent += 1;
          else leftOut += 1;
        }
        cursor = page.next_cursor;
      }
    } finally {
      note(`sent ${String(sent)}, left out ${String(leftOut)}; to go on from here: --after ${cursor ?? 'beginning'}`);
    }
  });
}

/** The cursor to begin after. */
async function firstCursor(feed: FeedClient, after: string): Promise<string | undefined> {
  if (after === 'beginning') return undefined;
  // without waiting, since a connection that breaks would lose the place
  const page = await answered(feed, { after, wait: 0 }, true);
  // of another cursor only whether it is good
  return after === 'now' ? page.next_cursor : after;
}

/** The next page with events, however long that takes. */
async function nextPage(feed: FeedClient, cursor: string | undefined): Promise<FeedPage> {
  for (;;) {
    const started = performance.now();
    const page = await answered(feed, { after: cursor, wait: WAIT });
    if (page.data.length > 0 || page.has_more) return page;
    // also where nothing happens, so that the cursor does not get too old
    cursor = page.next_cursor;
    if (performance.now() - started < LEAST_WAIT) await sleep(LEAST_WAIT, undefined, { signal: feed.signal });
  }
}

/**
 * Asks for a page until there is one, and says once what is in the way.
 * @throws CommandFailure if the first request of all finds no gateway: that is rather a wrong URL than one that will come back
 */
async function answered(feed: FeedClient, query: FeedQuery, isFirst = false): Promise<FeedPage> {
  const trouble = createTrouble();
  for (let failed = 0; ; failed += 1) {
    try {
      const page = await askFeed(feed, query);
      trouble.is(undefined);
      return page;
    } catch (error) {
      if (!(error instanceof NotNow)) throw error;
      if (isFirst && failed === 0 && !error.isAnswer)
        throw new CommandFailure(`${error.message}; start it, or name another with --url`);
      trouble.is(`${error.message}; asking again until it answers`);
      await sleep(delayOf(failed, error.retryAfter), undefined, { signal: feed.signal });
    }
  }
}

/** Milliseconds before the next try: what the other side asks for, or 1 s, doubled for each failure. */
function delayOf(failed: number, retryAfter: number | undefined, longest = LONGEST_DELAY): number {
  if (retryAfter !== undefined) return Math.min(Math.max(retryAfter, LEAST_DELAY), LONGEST_RETRY_AFTER);
  return Math.min(LEAST_DELAY * 2 ** Math.min(failed, 10), longest);
}

/** What came of sending an event once: no status if there was no answer, an error unless it was accepted. */
type Attempt = Awaited<ReturnType<typeof attempt>>;

interface Receiver {
  readonly url: string;
  readonly secret: Buffer;
  readonly signal: AbortSignal;
}

/** Posts an event once, signed as a webhook. @throws AbortError if it was interrupted */
async function attempt(event: FeedEvent, { url, secret, signal }: Receiver) {
  const body = JSON.stringify(event);
  const timestamp = Math.floor(Date.now() / 1000);
  const started = performance.now();
  const ms = (): number => Math.round(performance.now() - started);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `Scopegate/${version}`,
        ...signedHeaders({ id: event.id, timestamp, body }, [secret]),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWERED_WITHIN)]),
    });
    const { status, headers, ok } = response;
    const text = (await textWithin(response, MOST_KEPT)).trim().slice(0, MOST_SHOWN);
    const retryAfter = retryAfterOf(headers.get('retry-after'));
    return { status, error: ok ? undefined : text, isDown: false, retryAfter, ms: ms() };
  } catch (error) {
    signal.throwIfAborted();
    const reason = reasonOf(error);
    return { status: undefined, error: reason, isDown: NO_CONNECTION.has(reason), retryAfter: undefined, ms: ms() };
  }
}

/** Sends an event until it is accepted, and prints each attempt; false if it was refused too often, and is left out. */
async function deliver(event: FeedEvent, receiver: Receiver, json: true | undefined): Promise<boolean> {
  for (let [refused, down] = [0, 0]; ;) {
    const result = await attempt(event, receiver);
    await printSlowly(`${json ? asJson(event, result) : asText(event, result)}\n`, receiver.signal);
    if (result.error === undefined) return true;
    if (!result.isDown) refused += 1;
    if (refused === TRIES) {
      note(`${event.id} was sent ${String(TRIES)} times and not accepted; going on with the next`);
      return false;
    }
    if (result.isDown && down === 0) note(`nothing listens at ${receiver.url}; the event waits until something does`);
    const delay = result.isDown ? delayOf(down, undefined, LONGEST_DOWN) : delayOf(refused - 1, result.retryAfter);
    down = result.isDown ? down + 1 : 0;
    await sleep(delay, undefined, { signal: receiver.signal });
  }
}

function asJson({ id, type, object }: FeedEvent, { status, ms, error }: Attempt): string {
  return plain(JSON.stringify({ at: new Date(), id, type, object, status: status ?? null, ms, error: error ?? null }));
}

/** Time, type, object, status and duration; and what the receiver said if it did not accept. */
function asText({ type, object }: FeedEvent, { status, ms, error }: Attempt): string {
  const outcome = paint(process.stdout, error === undefined ? 'green' : 'red', String(status ?? 'failed'));
  const words = [new Date().toISOString(), plain(type), plain(object?.id ?? '-'), outcome, `${String(ms)} ms`];
  return [...words, ...(error === undefined || error === '' ? [] : [plain(error)])].join('  ');
}
