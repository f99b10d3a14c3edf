import { type Answer, call, failureOf, reason } from './api';
import { csvOf } from './csvText';
import { counted } from './numbers';
import { say } from './page';

/* The audit log as a file, put together here page by page. What was read is kept until it is saved or another file is begun. */

export type Event = Answer<'events'>['data'][number];
export interface EventFilters {
  readonly action: string | null;
  readonly key_id: string | null;
  readonly actor: string | null;
  readonly since: string | null;
  readonly until: string | null;
}
interface Job {
  readonly filters: EventFilters;
  readonly most: number;
  readonly events: Event[];
  cursor: string | null;
}

const AT_ONCE = 100;
/** How long to wait when too many requests were made, in milliseconds. */
const PAUSE = 5000;
const COLUMNS = ['id', 'at', 'action', 'actor', 'actor_name', 'from', 'key_id', 'details', 'times', 'last_at'] as const;

const eventsIn = (events: readonly Event[]): string => counted(events.length, 'event');

export class Csv {
  /** Progress or result of the last download; undefined before the first. */
  message: string | undefined;
  /** Offered after the download was stopped or has failed. */
  actions: readonly { readonly text: string; readonly does: () => void }[] = [];
  link: { readonly href: string; readonly text: string } | undefined;
  isReading = false;
  #job: Job | undefined;
  /** The number of the current run: an answer to an earlier one is dropped. */
  #turn = 0;

  constructor(readonly draw: () => void) {}

  /** Whether leaving the page would lose what was read. */
  get isUnsaved(): boolean {
    return this.#job !== undefined && this.#job.events.length > 0;
  }

  /** Begins a file of at most `most` events, or stops the one in progress. */
  press(filters: EventFilters, most: number): void {
    if (this.isReading) {
      // the page in flight is requested again on resume
      this.#end();
      this.#pause('Stopped.');
      return;
    }
    this.#job = { filters, most, events: [], cursor: null };
    void this.#read(this.#job);
  }

  async #read(job: Job): Promise<void> {
    this.#turn += 1;
    const turn = this.#turn;
    this.isReading = true;
    this.#show(`${eventsIn(job.events)} read…`);
    say('Reading the audit log.');
    try {
      while (job.events.length < job.most) {
        const page = await this.#next(job, turn);
        if (turn !== this.#turn) return;
        job.events.push(...page.data);
        job.cursor = page.next_cursor;
        if (job.cursor === null) break;
        this.#show(`${eventsIn(job.events)} read…`);
      }
      this.#end();
      if (job.events.length === 0) this.#leave('There are no such events.');
      else this.#save(job);
    } catch (error) {
      if (turn !== this.#turn) return;
      const failure = failureOf(error);
      this.#end();
      this.#pause(reason(failure), failure.link);
    }
  }

  /** The next page; waits while too many requests were made. @throws Failure */
  async #next(job: Job, turn: number): Promise<Answer<'events'>> {
    for (;;) {
      try {
        return await call('events', { ...job.filters, limit: AT_ONCE, cursor: job.cursor });
      } catch (error) {
        if (turn !== this.#turn || failureOf(error).code !== 'rate_limited') throw error;
        this.#show(`${eventsIn(job.events)} read; the limit of requests per minute is reached, so this goes on later…`);
        await new Promise((resolve) => setTimeout(resolve, PAUSE));
        if (turn !== this.#turn) throw error;
      }
    }
  }

  #end(): void {
    this.#turn += 1;
    this.isReading = false;
  }

  #pause(why: string, link?: { readonly href: string; readonly text: string }): void {
    const job = this.#job;
    if (!job) return;
    const count = job.events.length;
    const message = `${why} ${eventsIn(job.events)} ${count === 1 ? 'was' : 'were'} read.`;
    this.#show(
      message,
      [
        { text: 'Go on', does: () => void this.#read(job) },
        ...(count === 0 ? [] : [{ text: `Save ${eventsIn(job.events)}`, does: () => this.#save(job) }]),
      ],
      link,
    );
    say(message);
  }

  /** Saves what was read, and forgets it. */
  #save({ events, cursor, most }: Job): void {
    const saved = events.slice(0, most);
    const name = `audit-${new Date().toISOString().slice(0, 10)}.csv`;
    const href = URL.createObjectURL(new Blob([csvOf(COLUMNS, saved)], { type: 'text/csv' }));
    Object.assign(document.createElement('a'), { href, download: name }).click();
    // the browser has read the file by then
    setTimeout(() => URL.revokeObjectURL(href), 60_000);
    const isTruncated = cursor !== null && events.length >= most;
    const advice = isTruncated ? ' Older ones are not in it: choose a period for those.' : '';
    this.#leave(`Saved ${eventsIn(saved)} as ${name}.${advice}`);
  }

  #leave(message: string): void {
    this.#job = undefined;
    this.#show(message);
    say(message);
  }

  #show(message: string, actions: Csv['actions'] = [], link?: Csv['link']): void {
    Object.assign(this, { message, actions, link });
    this.draw();
  }
}
