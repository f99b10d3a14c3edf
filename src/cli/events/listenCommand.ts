import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Query, type Result, Scopegate, ScopegateError } from '../../../clients/typescript/src/index.js';
import { MINUTE, SECOND } from '../../units';
import { version } from '../../package';
import { createAddressPolicy } from '../../webhooks/addresses';
import { type Attempt, createPoster } from '../../webhooks/post';
import { secretText } from '../../auth/webhookSecrets';
import { signedHeaders } from '../../webhooks/signing';
import { CommandFailure, untilStopped, usageFailure } from '../ending';
import type { JsonOption } from '../help';
import { createProblemReporter, note, paint, escapeText, printSlowly, say } from '../terminal';

interface ListenOptions extends JsonOption {
  readonly forward: string;
  readonly url: string;
  readonly key?: string;
  readonly types?: readonly string[];
  readonly secret?: Buffer;
  readonly after: string;
}

type Page = Result<'get', '/events'>;
type Event = Page['data'][number];

/** How long the gateway may hold a request until there is an event, in seconds. */
const WAIT = 20;
/** An empty page that arrives sooner than this, in milliseconds, was not held for events, for example because the gateway drains. */
const MIN_WAIT = SECOND;
/** How many times an event is sent before it is skipped, if the receiver does not accept it. */
const TRIES = 4;
/** The longest delay while nothing listens at the receiver's URL, in milliseconds: short, since who starts a receiver waits for its first event. */
const LONGEST_DOWN = 3 * SECOND;
/** The longest delay that a receiver can ask for, in milliseconds. */
const LONGEST_RETRY_AFTER = MINUTE;
/** How long the read that finds the last cursor may take, in milliseconds. */
const LAST_READ_WITHIN = 3 * SECOND;
/** Characters of a receiver's answer that are shown. */
const MAX_SHOWN = 200;

/** `scopegate events listen`. Resolves after it is stopped. */
export async function listenCommand(options: ListenOptions): Promise<void> {
  const { forward, url, key, types, after, json } = options;
  if (key === undefined || key === '') throw usageFailure('no API key: set SCOPEGATE_KEY, or give --key');
  // the shortest that --secret takes
  const secret = options.secret ?? randomBytes(24);
  await untilStopped(async (signal) => {
    const read = feedOf({ url, key, types, signal });
    let cursor = await firstCursor(read, after);
    say(`Forwarding the events of ${url} to ${forward}. Press Ctrl-C to stop.`);
    if (!options.secret) say(`The secret to verify them with: ${secretText(secret)}`);
    const receiver = createReceiver(forward, secret, signal);
    let sent = 0;
    let leftOut = 0;
    /** How many events of the page that begins after `cursor` are sent or left out already. */
    let handled = 0;
    try {
      for (;;) {
        const started = performance.now();
        const page = await read(cursor, WAIT);
        for (const event of page.data) {
          if (await deliver(event, receiver, json)) sent += 1;
          else leftOut += 1;
          handled += 1;
        }
        cursor = page.next_cursor;
        handled = 0;
        const isIdle = page.data.length === 0 && !page.has_more;
        if (isIdle && performance.now() - started < MIN_WAIT) await sleep(MIN_WAIT, undefined, { signal });
      }
    } finally {
      receiver.close();
      if (handled > 0) cursor = await cursorAfter(read, cursor, handled);
      note(`sent ${String(sent)}, left out ${String(leftOut)}; to go on from here: --after ${cursor ?? 'beginning'}`);
    }
  });
}

interface PageOptions {
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

type Read = (after: string | undefined, wait: number, options?: PageOptions) => Promise<Page>;

/**
 * The cursor after the first `events` events after `after`: events have no cursors of their own, but a page of so many ends there. `after` itself if
 * that page cannot be read, so that they are sent again.
 */
function cursorAfter(read: Read, after: string | undefined, events: number): Promise<string | undefined> {
  const options = { limit: events, signal: AbortSignal.timeout(LAST_READ_WITHIN) };
  return read(after, 0, options).then(
    (page) => page.next_cursor,
    () => after,
  );
}

/** The cursor to begin after; undefined for the beginning. @throws CommandFailure if the gateway rejects `after` */
async function firstCursor(read: Read, after: string): Promise<string | undefined> {
  if (after === 'beginning') return undefined;
  // does not wait for events, since a connection that breaks meanwhile would lose the position
  const page = await read(after, 0);
  // with a cursor, that page was only read to validate it, and is read again
  return after === 'now' ? page.next_cursor : after;
}

interface Feed extends Pick<ListenOptions, 'url'> {
  readonly key: string;
  readonly types: readonly string[] | undefined;
  readonly signal: AbortSignal;
}

/** Reads pages of the feed like any caller. Retries until it gets one, and reports each problem once. */
function feedOf({ url, key, types, signal: interruption }: Feed): Read {
  const reportProblem = createProblemReporter();
  let hasAnswered = false;
  function onRetry(error: ScopegateError): void {
    const { code, status } = error;
    hasAnswered ||= status > 0;
    // such an answer means a wrong URL rather than an outage
    const isElsewhere = code === 'unexpected_response' && status < 500 && status !== 429;
    if (!hasAnswered || isElsewhere) throw error;
    reportProblem(`${reasonOf(error, url)}; asking again until it answers`);
  }
  const gateway = new Scopegate({ url, key, retries: Infinity, onRetry });
  // the gateway validates them
  const wanted = types && { types: [...types] as NonNullable<Query<'/events'>['types']> };
  return async (after, wait, { limit = 100, signal = interruption } = {}) => {
    const query = { limit, wait, ...(after !== undefined && { after }), ...wanted };
    const page = await gateway.get('/events', { query, signal }).catch((error: unknown) => {
      throw error instanceof ScopegateError ? failureOf(error, url) : error;
    });
    hasAnswered = true;
    reportProblem(undefined);
    return page;
  };
}

function reasonOf({ code, status, detail, message }: ScopegateError, url: string): string {
  const isOfApi = !['no_answer', 'unexpected_response'].includes(code);
  return isOfApi ? `the gateway at ${url} answered ${String(status)}, ${message}` : detail.replace(/\.$/, '');
}

function failureOf(error: ScopegateError, url: string): CommandFailure {
  const reason = reasonOf(error, url);
  return error.code === 'invalid_request'
    ? usageFailure(reason)
    : new CommandFailure(reason + (NEXT[error.code] ?? ''));
}

/** What to do about an error, by its code; appended to the message. */
const NEXT: Readonly<Record<string, string>> = {
  no_answer: '; start it, or name another with --url',
  unexpected_response: '; is --url the address of a gateway?',
  unauthenticated: ' Check the key in SCOPEGATE_KEY or --key.',
  cursor_expired: ' Begin with --after beginning, or --after now.',
};

type Receiver = ReturnType<typeof createReceiver>;

/** Posts events as signed webhooks, the way a gateway does, but to any address. */
function createReceiver(url: string, secret: Buffer, signal: AbortSignal) {
  const poster = createPoster({
    policy: createAddressPolicy(['0.0.0.0/0', '::/0']),
    // resolved by the system, since the name of a receiver may be in /etc/hosts
    resolve: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
  });
  const close = (): void => {
    poster.close();
  };
  // aborts the post in progress
  signal.addEventListener('abort', close);
  return {
    url,
    signal,
    close,
    /** @throws AbortError if it was interrupted */
    async post(event: Event): Promise<Attempt> {
      const body = JSON.stringify(event);
      const timestamp = Math.floor(Date.now() / 1000);
      const signed = signedHeaders({ id: event.id, timestamp, body }, [secret]);
      const headers = { 'content-type': 'application/json', 'user-agent': `Scopegate/${version}`, ...signed };
      const attempt = await poster.post({ url, headers, body });
      signal.throwIfAborted();
      return attempt;
    },
  };
}

/** Sends an event until it is accepted, and prints each attempt. Resolves with false if it was refused too often and is skipped. */
async function deliver(event: Event, receiver: Receiver, json: true | undefined): Promise<boolean> {
  let refused = 0;
  /** Attempts in a row that reached nobody. */
  let unreached = 0;
  for (;;) {
    const attempt = await receiver.post(event);
    await printSlowly(`${json ? asJson(event, attempt) : asText(event, attempt)}\n`, receiver.signal);
    if (attempt.ok) return true;
    let delay: number;
    if (attempt.isUnreached) {
      if (unreached === 0) note(`nothing listens at ${receiver.url}; the event waits until something does`);
      delay = Math.min(LONGEST_DOWN, SECOND * 2 ** unreached);
      unreached += 1;
    } else {
      delay = Math.min(LONGEST_RETRY_AFTER, Math.max(SECOND, attempt.retryAfter ?? SECOND * 2 ** refused));
      refused += 1;
      unreached = 0;
    }
    if (refused === TRIES) {
      note(`${event.id} was sent ${String(TRIES)} times and not accepted; going on with the next`);
      return false;
    }
    await sleep(delay, undefined, { signal: receiver.signal });
  }
}

/** Why an event was not accepted: the receiver's answer, or why there was none; null if it was accepted. */
function refusalOf({ ok, status, error, answer }: Attempt): string | null {
  if (ok) return null;
  return status === null ? error : (answer ?? '').trim().slice(0, MAX_SHOWN);
}

function asJson({ id, type, object }: Event, attempt: Attempt): string {
  const { status, ms } = attempt;
  return escapeText(JSON.stringify({ at: new Date(), id, type, object, status, ms, error: refusalOf(attempt) }));
}

/** Time, type, object, status and duration and, if the event was not accepted, the reason. */
function asText({ type, object }: Event, attempt: Attempt): string {
  const { ok, status, ms } = attempt;
  const outcome = paint(process.stdout, ok ? 'green' : 'red', String(status ?? 'failed'));
  const words = [
    new Date().toISOString(),
    escapeText(type),
    escapeText(object?.id ?? '-'),
    outcome,
    `${String(ms)} ms`,
  ];
  const refusal = refusalOf(attempt) ?? '';
  return [...words, ...(refusal === '' ? [] : [escapeText(refusal)])].join('  ');
}
