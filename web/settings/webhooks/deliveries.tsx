import './webhooks.css';
import type { JSX } from 'preact';
import { type Answer, call, Failure, failureOf, find } from '../api';
import { BesideLink, openBeside } from '../beside';
import { redraw } from '../dialog';
import { List, type Reading } from '../list';
import { say } from '../page';
import { Ago, Button, Filter, Heading, type Options, Problem, State } from '../parts';
import { Cell, Head, Table } from '../table';
import { length } from '../time';
import { Details, STATES } from './delivery';
import { MOST_AT_ONCE, maySend, Resending } from './resending';
import { type Attempt, type Delivery, type Endpoint, errorText, NextAttempt, Outcome } from './words';

/* Deliveries to an endpoint, those of the newest events first. */

/** Shown while there are no deliveries in any state. */
const NONE = 'No event was sent yet. Press “Refresh” to look again. Test events are not listed.';

type DeliveryState = Delivery['state'];
const CHOICES: Options = [['', 'all'], ...Object.entries(STATES).map(([state, { words }]) => [state, words] as const)];

const pathOf = (endpoint: string): string => `/settings/webhooks/${endpoint}`;

interface DeliveriesOptions {
  readonly draw: () => void;
  /** Resolves with whether everything was read. */
  readonly refresh: () => Promise<boolean>;
  /** Called after a resend was accepted. */
  readonly accepted: () => void;
  /** Called if the endpoint no longer exists. */
  readonly missing: () => void;
}

export class Deliveries {
  endpoint: Endpoint | undefined;
  #state: DeliveryState | '' = '';
  readonly list: List<Answer<'deliveries'>>;
  /** Outcomes of manual resends by id; undefined while one is being sent. */
  readonly #outcomes = new Map<string, Attempt | Failure | undefined>();
  readonly #resending: Resending;
  /** What the drawer shows. */
  #opened: Reading<Delivery> | undefined;

  constructor(readonly options: DeliveriesOptions) {
    this.list = new List((cursor) => this.#read(cursor), options.draw);
    const { draw, missing } = options;
    this.#resending = new Resending({ draw, missing, sent: ({ id }, attempt) => this.#note(id, attempt) });
  }

  /** Reads and shows the newest deliveries to an endpoint, and resolves with whether they were read; pass undefined when its page is left. */
  async show(endpoint: Endpoint | undefined): Promise<boolean> {
    if (endpoint?.id !== this.endpoint?.id) {
      this.#outcomes.clear();
      this.#resending.clear();
      this.#state = '';
      this.list.clear();
    }
    this.endpoint = endpoint;
    return endpoint ? this.list.load() : true;
  }

  async #read(cursor: string | null): Promise<Answer<'deliveries'>> {
    try {
      return await call('deliveries', { webhook_id: this.endpoint?.id ?? '', state: this.#state || null, cursor });
    } catch (error) {
      if (failureOf(error).code === 'not_found') this.options.missing();
      throw error;
    }
  }

  /** The last attempt of the newest event whose last attempt failed. */
  get lastFailure(): Attempt | undefined {
    return this.list.rows.map(({ log }) => log.at(-1)).find((attempt) => attempt?.ok === false);
  }

  /** The only delivery that a failing endpoint still gets; undefined while it may be on a page that has not been read. */
  #oldest(endpoint: Endpoint): Delivery | undefined {
    const waiting = this.list.rows.filter(({ state }) => state === 'waiting' || state === 'held');
    const isRead = this.#state !== 'held' && (this.list.cursor === null || waiting.length >= endpoint.waiting);
    return isRead ? waiting.at(-1) : undefined;
  }

  #choose(state: DeliveryState | ''): void {
    this.#state = state;
    this.#resending.clear();
    this.list.clear();
    void this.list.load();
  }

  /** Opens a delivery beside the list. */
  open(endpoint: string, id: string, delivery?: Delivery): void {
    this.#opened = openBeside<Delivery>({
      id,
      address: `${pathOf(endpoint)}/deliveries/${id}${location.search}`,
      read: () => readDelivery(endpoint, id),
      value: delivery,
      titleOf: (value) => value?.type ?? 'Delivery',
      view: (value) => <Details of={value} endpoint={endpoint} by={this} />,
    });
  }

  outcomeOf = (id: string): Attempt | Failure | undefined => this.#outcomes.get(id);
  isSending = (id: string): boolean => this.#outcomes.has(id) && this.outcomeOf(id) === undefined;

  /** Adds an attempt to a delivery as the gateway stores it: only the last keeps its answer. */
  #note(id: string, attempt: Attempt): void {
    const found = new Set([this.#opened?.value, ...this.list.rows].filter((row) => row?.id === id));
    for (const delivery of found) {
      const log = (delivery?.log ?? []) as Attempt[];
      log.splice(0, log.length, ...[...log.map((one) => ({ ...one, answer: null })), attempt].slice(-10));
    }
    if (attempt.ok) this.options.accepted();
  }

  async resend(endpoint: string, { id }: Delivery): Promise<void> {
    if (this.isSending(id)) return;
    this.#outcomes.set(id, undefined);
    redraw();
    const done = await call('resend', { webhook_id: endpoint, delivery: id }).catch(failureOf);
    // by now another endpoint is shown
    if (this.endpoint?.id !== endpoint) return;
    this.#outcomes.set(id, done);
    if (done instanceof Failure) {
      if (done.code === 'not_found') this.options.missing();
    } else {
      this.#note(id, done);
      say(done.ok ? 'Sent again: accepted.' : 'Sent again: failed.');
      this.options.draw();
    }
    redraw();
  }

  view(endpoint: Endpoint): JSX.Element {
    const oldest = this.#oldest(endpoint);
    const refresh = async (): Promise<void> => {
      if (await this.options.refresh()) say('Refreshed.');
    };
    const { rows } = this.list;
    const resending = this.#resending;
    const columns = ['Event', 'Object', 'State', 'Attempts', 'Next retry', 'First sent'];
    return (
      <section aria-labelledby="deliveries-title">
        <Heading as="h2" id="deliveries-title" title="Deliveries">
          {maySend && rows.length > 0 && <Selection of={resending} rows={rows} endpoint={endpoint.id} />}
          <Filter
            label="State"
            of={this.#state}
            options={CHOICES}
            change={(to) => this.#choose(to as DeliveryState | '')}
          />
          <Button does={refresh} isBusy={this.list.isBusy}>
            Refresh
          </Button>
        </Heading>
        <Resent of={resending} />
        <Table
          of={this.list}
          class="deliveries"
          name="deliveries-title"
          columns={maySend ? ['Select', ...columns] : columns}
          none={this.#state === '' ? NONE : 'No deliveries in this state.'}
          more="Show older deliveries"
        >
          {rows.map((delivery) => (
            <Row
              key={delivery.id}
              of={delivery}
              endpoint={endpoint}
              isOldest={delivery === oldest}
              show={() => this.open(endpoint.id, delivery.id, delivery)}
              resending={maySend ? resending : undefined}
            />
          ))}
        </Table>
      </section>
    );
  }
}

/** @throws Failure */
async function readDelivery(endpoint: string, id: string): Promise<Delivery> {
  const delivery = await find('delivery', { webhook_id: endpoint, delivery: id });
  if (delivery) return delivery;
  const text = 'This delivery is no longer stored, or never was. Deliveries are kept for 30 days.';
  throw new Failure(text, { code: 'not_found' });
}

interface SelectionProps {
  readonly of: Resending;
  readonly rows: readonly Delivery[];
  readonly endpoint: string;
}

/** What becomes of all rows, and of the chosen ones. */
function Selection({ of: resending, rows, endpoint }: SelectionProps): JSX.Element {
  const { chosen, progress } = resending;
  const first = rows.slice(0, MOST_AT_ONCE);
  const label = progress ? `Sending ${progress.done + 1} of ${progress.all}…` : `Resend ${chosen.size}`;
  return (
    <>
      <label class="filter">
        <input
          type="checkbox"
          checked={first.every(({ id }) => chosen.has(id))}
          onChange={({ currentTarget }) =>
            resending.choose(currentTarget.checked ? first : rows, currentTarget.checked)
          }
        />
        Select {rows.length > MOST_AT_ONCE ? `the first ${MOST_AT_ONCE}` : 'all'}
      </label>
      {resending.isFull && <span class="quiet">At most {MOST_AT_ONCE} at once.</span>}
      {(chosen.size > 0 || progress) && (
        <Button isBusy={progress !== undefined} does={() => resending.send(endpoint)}>
          {label}
        </Button>
      )}
    </>
  );
}

/** What became of the events that were sent again. */
function Resent({ of: { accepted, failed, stopped } }: { of: Resending }): JSX.Element {
  const isWhole = failed.length === 0 && !stopped;
  return (
    <div role="status">
      {accepted !== undefined && (
        <div class={`outcome ${isWhole ? 'good' : 'bad'}`}>
          <p>
            <strong>Sent again:</strong> {accepted} accepted, {failed.length} failed
            {stopped && `, ${stopped.left} not sent`}.
          </p>
          {stopped && <Problem failure={stopped.failure} />}
          {failed.length > 0 && (
            <ul>
              {failed.map(({ delivery, outcome }) => (
                <li key={delivery.id}>
                  {delivery.type} {delivery.object_id}:{' '}
                  {outcome instanceof Failure ? `Not sent: ${outcome.message}` : <Outcome of={outcome} />}
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </div>
  );
}

interface RowProps {
  readonly of: Delivery;
  readonly endpoint: Endpoint;
  readonly isOldest: boolean;
  readonly show: () => void;
  /** Undefined if the visitor may not send events. */
  readonly resending: Resending | undefined;
}

function Row({ of: delivery, endpoint, isOldest, show, resending }: RowProps): JSX.Element {
  const { id, type, object_id: object, attempts, next_attempt_at: next, at, state } = delivery;
  const { words, note } = STATES[state];
  const last = delivery.log.at(-1);
  return (
    <tr>
      {resending && (
        <Cell label="Select">
          <input
            type="checkbox"
            aria-label={`Select ${type} ${object ?? ''}`}
            checked={resending.chosen.has(id)}
            disabled={resending.isFull && !resending.chosen.has(id)}
            onChange={({ currentTarget }) => resending.choose([delivery], currentTarget.checked)}
          />
        </Cell>
      )}
      <Head label="Event">
        <BesideLink href={`${pathOf(endpoint.id)}/deliveries/${id}`} show={show}>
          {type}
        </BesideLink>
      </Head>
      <Cell label="Object" class="long">
        {object !== null && <code title={object}>{object}</code>}
      </Cell>
      <Cell label="State">
        <State of={state} words={words} />{' '}
        <span class="quiet">
          {note ?? (last && (last.ok ? `HTTP ${last.status}, ${length(last.ms)}` : errorText(last)))}
        </span>
      </Cell>
      <Cell label="Attempts">{attempts}</Cell>
      <Cell label="Next retry" class={next === null ? 'idle' : undefined}>
        <NextAttempt of={delivery} endpoint={endpoint} isOldest={isOldest} />
      </Cell>
      <Cell label="First sent">
        <Ago at={at} />
      </Cell>
    </tr>
  );
}
