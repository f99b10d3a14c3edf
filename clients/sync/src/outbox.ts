import { setTimeout as sleep } from 'node:timers/promises';
import { type Gateway, type Result, secondsAfter } from './gateway.js';
import { type Element, objectOf, type SentObjects } from './sent.js';
import type { Change, Fault } from './source.js';

/** How many elements had which outcome. `failed` are also documents that could not be mapped, and `missing` are documents that were sent once and are no longer in your database. */
export type Report = Record<Result['outcome'] | 'missing', number>;

/** The most lines and characters of a request: the gateway takes 10,000 lines and 16 MiB, and a character has up to 3 bytes. */
const [MAX_LINES, MAX_CHARACTERS] = [1000, 4 * 2 ** 20];
/** The same element may be stored later. */
const LATER = new Set(['unavailable', 'rate_limited']);
/**
 * Perhaps for another object that follows: changes are put together, so they change places. An order names a quote, which names a customer. `more`
 * stands for faults that a call with fewer of them lists.
 */
const [OTHERS, TRIES] = [new Set(['not_found', 'conflict', 'more']), 3];

/** Elements until the gateway has answered for them. An organisation that is away holds up its own alone. */
export class Outbox {
  readonly report: Report = { created: 0, updated: 0, unchanged: 0, deleted: 0, stale: 0, failed: 0, missing: 0 };
  readonly #waiting = new Map<string, Element>();
  readonly #tries = new WeakMap<Element, number>();
  readonly #away = new Map<string, { readonly until: number; readonly failures: number }>();

  constructor(
    readonly gateway: Gateway,
    readonly sent: SentObjects,
    readonly onFault: (fault: Fault) => void,
  ) {}

  readonly #fail = (fault: Fault): void => {
    this.report.failed += 1;
    this.onFault(fault);
  };

  get size(): number {
    return this.#waiting.size;
  }

  /** Adds the elements of changes. Of two for one object the later one counts. */
  async add(changes: readonly Change[]): Promise<void> {
    for (const element of await this.sent.elementsOf(changes, this.#fail)) {
      this.#waiting.delete(objectOf(element));
      this.#waiting.set(objectOf(element), element);
    }
  }

  /** Sends until no more than so many wait. @throws an answer that waiting does not change */
  async drain(left = 0): Promise<void> {
    for (;;) {
      await this.send();
      if (this.size <= left) return;
      const delays = Array.from(this.#waiting.values(), ({ organisation }) => this.#awayFor(organisation));
      await sleep(
        delays.reduce((one, other) => Math.min(one, other)),
        undefined,
        { signal: this.gateway.signal },
      );
    }
  }

  /** Sends what can be sent now. @throws an answer that waiting does not change */
  async send(): Promise<void> {
    const due = [...this.#waiting.values()].filter(({ organisation }) => this.#awayFor(organisation) === 0);
    for (let first = 0, next = 0; first < due.length; first = next) {
      for (let size = 0; next < due.length && next < first + MAX_LINES; next += 1) {
        size += due[next]?.line.length ?? 0;
        if (size > MAX_CHARACTERS && next > first) break;
      }
      const piece = due.slice(first, next);
      const results = await this.gateway.retrying(() => this.gateway.write(piece.map(({ line }) => line)));
      for (const [at, element] of piece.entries()) await this.#settle(element, results[at]);
    }
  }

  #awayFor(organisation: string): number {
    return Math.max(0, (this.#away.get(organisation)?.until ?? 0) - Date.now());
  }

  async #settle(element: Element, result: Result | undefined): Promise<void> {
    if (!result) return;
    const { outcome, errors } = result;
    const { source, id, organisation, ref: external_ref } = element;
    const { failures = 0 } = this.#away.get(organisation) ?? {};
    const fault = { collection: source.collection, id, organisation, external_ref, errors };
    const isOnly = (codes: ReadonlySet<string>): boolean =>
      outcome === 'failed' && errors.every(({ code }) => codes.has(code));
    if (isOnly(LATER)) {
      // once for all of its elements
      if (this.#awayFor(organisation) > 0) return;
      const seconds = secondsAfter(failures + 1);
      this.#away.set(organisation, { until: Date.now() + seconds * 1000, failures: failures + 1 });
      this.gateway.onRetry(waitOf(fault), seconds);
      return;
    }
    this.#away.delete(organisation);
    const tries = (this.#tries.get(element) ?? 0) + 1;
    this.#tries.set(element, tries);
    if (isOnly(OTHERS) && tries < TRIES) return;
    this.#waiting.delete(objectOf(element));
    // it went with its organisation
    const isGone = element.isDelete && outcome !== 'stale' && errors.every(({ code }) => code === 'not_found');
    if (outcome === 'failed' && !isGone) {
      this.#fail(fault);
      return;
    }
    this.report[isGone ? 'deleted' : outcome] += 1;
    if (isGone) await this.sent.forget([element]);
  }
}

/** Why an organisation's elements wait. */
function waitOf(fault: Fault): Error {
  const { collection, organisation = '', external_ref = '', errors } = fault;
  const reasons = errors.map(({ code, detail }) => `${code}: ${detail}`).join('; ');
  return new Error(`${collection} ${external_ref} of organisation ${organisation} is not stored yet, ${reasons}`, {
    cause: fault,
  });
}
