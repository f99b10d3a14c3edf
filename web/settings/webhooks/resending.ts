import { call, Failure, failureOf, settings } from '../api';
import { say } from '../page';
import type { Attempt, Delivery } from './words';

/* Sending several events again by hand, one after the other. */

/** How many are sent at once: as many as a page of the list has. */
export const MOST_AT_ONCE = 20;

/** Whether the user may send events by hand. */
export const maySend = settings.mayChange && settings.hasPlan && settings.canMakeWebhooks;

/** Codes of refusals that are about one delivery: its event is no longer kept, or it is gone itself. */
const OF_ONE = ['validation_failed', 'not_found'];

interface Failed {
  readonly delivery: Delivery;
  /** A failure if it cannot be sent. */
  readonly outcome: Attempt | Failure;
}

interface ResendingOptions {
  readonly draw: () => void;
  /** Called with the outcome of each. */
  readonly sent: (delivery: Delivery, attempt: Attempt) => void;
  /** Called if a delivery does not exist, maybe since its endpoint does not. */
  readonly missing: () => void;
}

export class Resending {
  /** Chosen deliveries by id; those that may be accepted another time stay chosen. */
  readonly chosen = new Map<string, Delivery>();
  /** How many of how many were sent, while that lasts. */
  progress: { readonly done: number; readonly all: number } | undefined;
  /** How many the endpoint accepted the last time; undefined before. */
  accepted: number | undefined;
  failed: readonly Failed[] = [];
  /** Why it stopped, and how many were left. */
  stopped: { readonly failure: Failure; readonly left: number } | undefined;
  /** The number of the current run: one that was overtaken ends. */
  #run = 0;

  constructor(readonly options: ResendingOptions) {}

  clear(): void {
    this.#run += 1;
    this.chosen.clear();
    this.progress = undefined;
    this.#forget();
  }

  #forget(): void {
    this.accepted = undefined;
    this.failed = [];
    this.stopped = undefined;
  }

  get isFull(): boolean {
    return this.chosen.size >= MOST_AT_ONCE;
  }

  choose(deliveries: readonly Delivery[], isChosen: boolean): void {
    for (const delivery of deliveries) {
      if (!isChosen) this.chosen.delete(delivery.id);
      else if (!this.isFull) this.chosen.set(delivery.id, delivery);
    }
    this.options.draw();
  }

  /** Sends the chosen ones. Stops at a refusal that the others would get as well, such as one of the plan. */
  async send(endpoint: string): Promise<void> {
    if (this.progress) return;
    const run = (this.#run += 1);
    const all = [...this.chosen.values()];
    this.#forget();
    let accepted = 0;
    for (const [done, delivery] of all.entries()) {
      this.progress = { done, all: all.length };
      this.options.draw();
      const outcome = await call('resend', { webhook_id: endpoint, delivery: delivery.id }).catch(failureOf);
      if (run !== this.#run) return;
      if (outcome instanceof Failure) {
        if (!OF_ONE.includes(outcome.code ?? '')) {
          this.stopped = { failure: outcome, left: all.length - done };
          break;
        }
        this.chosen.delete(delivery.id);
        if (outcome.code === 'not_found') this.options.missing();
      } else {
        if (outcome.ok) {
          accepted += 1;
          this.chosen.delete(delivery.id);
        }
        this.options.sent(delivery, outcome);
      }
      if (outcome instanceof Failure || !outcome.ok) this.failed = [...this.failed, { delivery, outcome }];
    }
    this.progress = undefined;
    this.accepted = accepted;
    const why = this.stopped ? ` Stopped: ${this.stopped.failure.message}` : '';
    say(`Sent again: ${accepted} of ${all.length} accepted.${why}`);
    this.options.draw();
  }
}
