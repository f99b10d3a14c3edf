import { call, Failure, failureOf } from '../api';
import { say } from '../page';
import type { Attempt, Delivery } from './words';

/* Sending several events again by hand, one after the other. */

/** How many are sent at once: as many as a page of the list has. */
export const MOST_AT_ONCE = 20;

interface Failed {
  readonly delivery: Delivery;
  readonly attempt: Attempt;
}

interface ResendingOptions {
  readonly draw: () => void;
  /** Called with the outcome of each. */
  readonly sent: (delivery: Delivery, attempt: Attempt) => void;
}

export class Resending {
  /** Chosen deliveries by id; those that were not accepted stay chosen. */
  readonly chosen = new Map<string, Delivery>();
  /** How many of how many were sent, while that lasts. */
  progress: { readonly done: number; readonly all: number } | undefined;
  /** How many the endpoint accepted the last time; undefined before. */
  accepted: number | undefined;
  failed: readonly Failed[] = [];
  /** Why the others were not sent. */
  failure: Failure | undefined;
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
    this.failure = undefined;
  }

  choose(deliveries: readonly Delivery[], isChosen: boolean): void {
    for (const delivery of deliveries) {
      if (!isChosen) this.chosen.delete(delivery.id);
      else if (this.chosen.size < MOST_AT_ONCE) this.chosen.set(delivery.id, delivery);
    }
    this.options.draw();
  }

  /** Sends the chosen ones. Stops at the first that cannot be sent, for the same would happen to the others. */
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
        this.failure = outcome;
        break;
      }
      if (outcome.ok) {
        accepted += 1;
        this.chosen.delete(delivery.id);
      } else this.failed = [...this.failed, { delivery, attempt: outcome }];
      this.options.sent(delivery, outcome);
    }
    this.progress = undefined;
    this.accepted = accepted;
    say(`Sent again: ${accepted} of ${all.length} accepted.`);
    this.options.draw();
  }
}
