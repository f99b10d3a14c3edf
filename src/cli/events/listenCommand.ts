import { randomBytes } from 'node:crypto';
import { MINUTE, SECOND } from '../../units';
import { secretText } from '../../webhooks/signing';
import { CommandFailure, usageFailure } from '../common/failure';
import type { JsonOption } from '../common/help';
import { note, paint, plain, say } from '../common/terminal';
import { askFeed, type FeedClient, type FeedEvent, type FeedPage, NotNow } from './feedClient';
import { type Attempt, attempt, type Receiver } from './forward';
import { createTrouble, pause, untilStopped, writeLine } from './untilStopped';

export interface ListenOptions extends JsonOption {
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
    const forwarding = createForwarding({ url: forward, secret, signal }, json === true);
    try {
      for (;;) {
        const page = await nextPage(feed, cursor);
        for (const event of page.data) await forwarding.forward(event);
        cursor = page.next_cursor;
      }
    } finally {
      const { sent, leftOut } = forwarding.counts();
      note(`sent ${String(sent)}, left out ${String(leftOut)}; to go on from here: --after ${cursor ?? 'beginning'}`);
    }
  });
}

/** The cursor to begin after. */
async function firstCursor(feed: FeedClient, after: string): Promise<string | undefined> {
  if (after === 'beginning') return undefined;
  // without waiting, since a connection that breaks would lose the place
  const page = await answered(feed, { after, wait: 0 }, { isFirst: true });
  // of another cursor only whether it is good
  return after === 'now' ? page.next_cursor : after;
}

/** The next page with events, however long that takes. */
async function nextPage(feed: FeedClient, cursor: string | undefined): Promise<FeedPage> {
  for (;;) {
    const started = performance.now();
    const page = await answered(feed, { after: cursor, wait: WAIT }, { isFirst: false });
    if (page.data.length > 0 || page.has_more) return page;
    // also where nothing happens, so that the cursor does not get too old
    cursor = page.next_cursor;
    if (performance.now() - started < LEAST_WAIT) await pause(LEAST_WAIT, feed.signal);
  }
}

/**
 * Asks for a page until there is one, and says once what is in the way.
 * @throws CommandFailure if the first request of all finds no gateway: that is rather a wrong URL than one that will come back
 */
async function answered(
  feed: FeedClient,
  query: Parameters<typeof askFeed>[1],
  { isFirst }: { readonly isFirst: boolean },
): Promise<FeedPage> {
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
      await pause(delayOf(failed, error.retryAfter), feed.signal);
    }
  }
}

/** Milliseconds before the next try: what the other side asks for, or 1 s, doubled for each failure. */
function delayOf(failed: number, retryAfter: number | undefined, longest = LONGEST_DELAY): number {
  if (retryAfter !== undefined) return Math.min(Math.max(retryAfter, LEAST_DELAY), LONGEST_RETRY_AFTER);
  return Math.min(LEAST_DELAY * 2 ** Math.min(failed, 10), longest);
}

/** Sends events one after another, and prints each attempt. */
function createForwarding(receiver: Receiver, json: boolean) {
  let [sent, leftOut] = [0, 0];

  async function forward(event: FeedEvent): Promise<void> {
    for (let [refused, down] = [0, 0]; ;) {
      const result = await attempt(event, receiver);
      await writeLine(json ? asJson(event, result) : asText(event, result), receiver.signal);
      if (result.error === undefined) {
        sent += 1;
        return;
      }
      if (!result.isDown) refused += 1;
      if (refused === TRIES) {
        leftOut += 1;
        note(`${event.id} was sent ${String(TRIES)} times and not accepted; going on with the next`);
        return;
      }
      if (result.isDown && down === 0) note(`nothing listens at ${receiver.url}; the event waits until something does`);
      const delay = result.isDown ? delayOf(down, undefined, LONGEST_DOWN) : delayOf(refused - 1, result.retryAfter);
      down = result.isDown ? down + 1 : 0;
      await pause(delay, receiver.signal);
    }
  }

  return { forward, counts: () => ({ sent, leftOut }) };
}

function asJson({ id, type, object }: FeedEvent, { status, ms, error }: Attempt): string {
  return JSON.stringify({ at: new Date(), id, type, object, status: status ?? null, ms, error: error ?? null });
}

/** Time, type, object, status and duration; and what the receiver said if it did not accept. */
function asText({ type, object }: FeedEvent, { status, ms, error }: Attempt): string {
  const outcome = paint(process.stdout, error === undefined ? 'green' : 'red', String(status ?? 'failed'));
  const words = [new Date().toISOString(), plain(type), plain(object?.id ?? '-'), outcome, `${String(ms)} ms`];
  return [...words, ...(error === undefined || error === '' ? [] : [plain(error)])].join('  ');
}
