import { randomUUID } from 'node:crypto';
import { acknowledgement, type Call, type Caller, labelOf, type Reply, Tally } from './client';
import type { Entry } from './ledger';
import type { Random } from './random';
import { milliseconds, sleep, until } from './timing';

/** Products per bulk call. */
const PRODUCTS_A_CALL = 20;
/** How long a client retries a write, in milliseconds. */
const GIVE_UP_AFTER = 180_000;
/** Number of clients that retry each write under one Idempotency-Key until it succeeds. */
const PERSISTENT = 6;
/** Number of clients that send each write once, without an Idempotency-Key, and so never learn the result of some. */
const IMPATIENT = 2;
/** Maximum time until an answer, whatever its status, in milliseconds. */
export const ANSWER_BOUND = 15_000;
/** Maximum number of writes of a load, so that a long run stays bounded. */
const MOST_WRITES = 40_000;
/** Most time between two writes of a client, in milliseconds. */
const PAUSE = 100;
/** Time until the next write after an answer with Retry-After, in milliseconds: shorter than that says, to keep up the load. */
const TOLD_TO_WAIT = 250;

interface LoadOptions {
  readonly callers: readonly Caller[];
  readonly key: string;
  readonly random: Random;
  /** Maximum time until an answer, whatever its status, in milliseconds. */
  readonly answerBound: number;
}

/** Writes sent in the background. */
export function startLoad({ callers, key, random, answerBound }: LoadOptions) {
  const entries: Entry[] = [];
  const tally = new Tally();
  const [unexpected, late]: [string[], string[]] = [[], []];
  let [isOver, acknowledged, slowest] = [false, 0, 0];

  function note(entry: Entry, reply: Reply): void {
    tally.add(labelOf(reply));
    slowest = Math.max(slowest, reply.ms);
    const isNever = reply.kind === 'failed' && reply.reason === 'timeout';
    if (reply.ms <= answerBound && !isNever) return;
    const sentAt = new Date(Date.now() - reply.ms).toISOString();
    late.push(
      `${entry.kind} ${entry.markers[0] ?? ''} sent at ${sentAt}: ${labelOf(reply)} after ${milliseconds(reply.ms)}`,
    );
  }

  function acknowledge(entry: Entry, reply: Reply): boolean {
    entry.acknowledged = acknowledgement(reply);
    if (entry.acknowledged) acknowledged += 1;
    return entry.acknowledged !== undefined;
  }

  /** Tries the gateways in turn until the write succeeds. */
  async function persist(entry: Entry): Promise<void> {
    const started = performance.now();
    const deadline = started + GIVE_UP_AFTER;
    let turn = Math.floor(random() * callers.length);
    while (performance.now() < deadline) {
      const call = callers[turn % callers.length];
      if (!call) return;
      entry.tries += 1;
      const reply = await call(callOf(entry, key));
      note(entry, reply);
      if (acknowledge(entry, reply)) {
        entry.waited = performance.now() - started;
        return;
      }
      if (!isWorthRetrying(reply)) {
        unexpected.push(`${entry.markers[0] ?? ''}: ${describe(reply)}`);
        return;
      }
      turn += 1;
      await sleep(isToldToWait(reply) ? TOLD_TO_WAIT : 20 + random() * 80);
    }
    unexpected.push(`${entry.markers[0] ?? ''}: no success after ${String(entry.tries)} attempts`);
  }

  async function sendOnce(entry: Entry): Promise<void> {
    const call = callers[Math.floor(random() * callers.length)];
    entry.tries = 1;
    if (!call) return;
    const reply = await call(callOf(entry, key));
    note(entry, reply);
    if (!acknowledge(entry, reply) && !isWorthRetrying(reply))
      unexpected.push(`${entry.markers[0] ?? ''}: ${describe(reply)}`);
    // while writes are refused, the writes of one run would soon be used up
    if (isToldToWait(reply)) await sleep(TOLD_TO_WAIT);
  }

  async function client(isPersistent: boolean): Promise<void> {
    while (!isOver && entries.length < MOST_WRITES) {
      const entry = newEntry(random, isPersistent);
      entries.push(entry);
      await (isPersistent ? persist(entry) : sendOnce(entry));
      await sleep(random() * PAUSE);
    }
  }

  const clients = Array.from({ length: PERSISTENT + IMPATIENT }, (_none, index) => client(index < PERSISTENT));
  return {
    entries,
    tally,
    /** Answers that are not worth retrying, and writes given up. */
    unexpected,
    /** Answers that took too long or never came. */
    late,
    /** Slowest answer, in milliseconds. */
    slowest: () => slowest,
    /** Milliseconds until the next acknowledged write; undefined if there is none in time. */
    nextAcknowledgement(timeoutMs: number): Promise<number | undefined> {
      const before = acknowledged;
      return until(() => acknowledged > before, timeoutMs, 5);
    },
    /** Stops after each client's current write. */
    async stop() {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

export type Load = ReturnType<typeof startLoad>;

/** A write with unique markers: a bulk call or a new thread. */
export function newEntry(random: Random, isKeyed: boolean, filler = ''): Entry {
  const id = randomUUID();
  const common = { idempotencyKey: isKeyed ? `fault-${id}` : undefined, tries: 0 };
  if (random() < 0.5) {
    const markers = Array.from({ length: PRODUCTS_A_CALL }, (_none, index) => `${id}-${String(index)}`);
    const products = markers.map((sku) => ({
      sku,
      name: 'Fault',
      unit_price_minor: 100,
      ...(filler !== '' && { description: filler.slice(0, 5000) }),
    }));
    return { ...common, kind: 'bulk', path: '/api/v1/products/bulk', body: JSON.stringify({ products }), markers };
  }
  const body = JSON.stringify({ subject: id, text: `Fault ${id} ${filler.slice(0, 19_000)}`.trim() });
  return { ...common, kind: 'request', path: '/api/v1/requests', body, markers: [id] };
}

export function callOf({ path, body, idempotencyKey }: Entry, key: string): Call {
  return { method: 'POST', path, body, key, idempotencyKey };
}

function isWorthRetrying(reply: Reply): boolean {
  return reply.kind === 'failed' || reply.status >= 500 || reply.status === 409 || reply.status === 429;
}

function isToldToWait(reply: Reply): boolean {
  return reply.kind === 'answer' && reply.headers['retry-after'] !== undefined;
}

function describe(reply: Reply): string {
  return reply.kind === 'answer' ? `${String(reply.status)} ${reply.body.slice(0, 200)}` : reply.reason;
}
