import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Answer, call, Failure, failureOf, settings } from '../api';
import { Copyable, open, redraw, Sheet } from '../dialog';
import { List } from '../list';
import { say } from '../page';
import { Ago, Button, Cell, Facts, Filter, Head, HeadRow, type Options, Problem, State, Table } from '../parts';
import { exact, length } from '../time';
import { AnswerText, type Attempt, type Delivery, type Endpoint, NextAttempt, OutcomeBox } from './words';

/* Deliveries to an endpoint, those of the newest events first. */

type State = Delivery['state'];
const STATES: Readonly<Record<State, { readonly words: string; readonly note?: string }>> = {
  delivered: { words: 'delivered' },
  waiting: { words: 'retrying' },
  held: { words: 'held back', note: 'behind an earlier event of the same object' },
  failed: { words: 'given up', note: 'all attempts failed' },
  skipped: { words: 'skipped', note: 'the endpoint was enabled from another time' },
};

const CHOICES: Options = [['', 'all'], ...Object.entries(STATES).map(([state, { words }]) => [state, words] as const)];

interface DeliveriesOptions {
  readonly draw: () => void;
  /** Resolves with whether all was read. */
  readonly refresh: () => Promise<boolean>;
  /** Called after a resend was accepted. */
  readonly accepted: () => void;
  /** Called if the endpoint no longer exists. */
  readonly missing: () => void;
}

export class Deliveries {
  endpoint: Endpoint | undefined;
  #state: State | '' = '';
  readonly list: List<Answer<'deliveries'>>;
  /** Outcomes of manual resends by id; undefined while one is being sent. */
  readonly #outcomes = new Map<string, Attempt | Failure | undefined>();

  constructor(readonly options: DeliveriesOptions) {
    this.list = new List((cursor) => this.#read(cursor), options.draw);
  }

  /** Reads and shows the newest deliveries to an endpoint, and resolves with whether they were read; pass undefined when its page is left. */
  async show(endpoint: Endpoint | undefined): Promise<boolean> {
    if (endpoint?.id !== this.endpoint?.id) {
      this.#outcomes.clear();
      this.#state = '';
      this.list.clear();
    }
    this.endpoint = endpoint;
    return endpoint !== undefined && this.list.load();
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

  #choose(state: State | ''): void {
    this.#state = state;
    this.list.clear();
    void this.list.load();
  }

  readonly #details = (delivery: Delivery): void => {
    open({ isAside: true, Content: () => <Details of={delivery} by={this} /> });
  };

  outcomeOf = (id: string): Attempt | Failure | undefined => this.#outcomes.get(id);
  isSending = (id: string): boolean => this.#outcomes.has(id) && this.outcomeOf(id) === undefined;

  async resend({ id, log }: Delivery): Promise<void> {
    const endpoint = this.endpoint?.id ?? '';
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
      // as the gateway stores it: only the last attempt keeps its answer
      const attempts = log as Attempt[];
      attempts.splice(0, log.length, ...[...log.map((attempt) => ({ ...attempt, answer: null })), done].slice(-10));
      say(done.ok ? 'Sent again: accepted.' : 'Sent again: failed.');
      if (done.ok) this.options.accepted();
      this.options.draw();
    }
    redraw();
  }

  view(endpoint: Endpoint): JSX.Element {
    const oldest = this.#oldest(endpoint);
    const refresh = async (): Promise<void> => {
      if (await this.options.refresh()) say('Refreshed.');
    };
    return (
      <section aria-labelledby="deliveries-title">
        <div class="heading">
          <h2 id="deliveries-title" tabIndex={-1}>
            Deliveries
          </h2>
          <Filter label="State" of={this.#state} options={CHOICES} change={(to) => this.#choose(to as State | '')} />
          <Button does={refresh} isBusy={this.list.isBusy}>
            Refresh
          </Button>
        </div>
        <Table
          of={this.list}
          class="deliveries"
          name="deliveries-title"
          columns={['Event', 'Object', 'State', 'Attempts', 'Next attempt', 'First sent']}
          none={this.#state === '' ? 'No event was sent yet. New ones appear here.' : 'No deliveries in this state.'}
          more="Show older deliveries"
        >
          {this.list.rows.map((delivery) => (
            <Row
              key={delivery.id}
              of={delivery}
              endpoint={endpoint}
              isOldest={delivery === oldest}
              details={this.#details}
            />
          ))}
        </Table>
        <p class="hint">Deliveries are kept for 30 days. Test events are not listed.</p>
      </section>
    );
  }
}

interface RowProps {
  readonly of: Delivery;
  readonly endpoint: Endpoint;
  readonly isOldest: boolean;
  readonly details: (delivery: Delivery) => void;
}

function Row({ of: delivery, endpoint, isOldest, details }: RowProps): JSX.Element {
  const { type, object_id: object, attempts, next_attempt_at: next, at, state } = delivery;
  const { words, note } = STATES[state];
  const last = delivery.log.at(-1);
  return (
    <tr>
      <Head label="Event">
        <Button class="link" label={`Details of ${type} ${object ?? ''}`} does={() => details(delivery)}>
          {type}
        </Button>
      </Head>
      <Cell label="Object" class="long">
        {object !== null && <code title={object}>{object}</code>}
      </Cell>
      <Cell label="State">
        <State of={state} words={words} />{' '}
        <span class="quiet">{note ?? (last && (last.ok ? `${last.status}, ${length(last.ms)}` : last.error))}</span>
      </Cell>
      <Cell label="Attempts">{attempts}</Cell>
      <Cell label="Next attempt" class={next === null ? 'idle' : undefined}>
        <NextAttempt of={delivery} endpoint={endpoint} isOldest={isOldest} />
      </Cell>
      <Cell label="First sent">
        <Ago at={at} />
      </Cell>
    </tr>
  );
}

function Details({ of: delivery, by }: { of: Delivery; by: Deliveries }): JSX.Element {
  const { id, type, event_id: event, object_id: object, log, state } = delivery;
  const last = log.at(-1);
  const outcome = by.outcomeOf(id);
  return (
    <Sheet title={type} button="Close">
      <Facts
        of={[
          ['State', <State of={state} words={STATES[state].words} />],
          ['Object', object ?? 'none'],
          ['Event id (webhook-id)', event],
        ]}
      />
      {settings.mayChange && (
        <>
          <p class="buttons">
            <Button label={`Send again: ${type}`} isBusy={by.isSending(id)} does={() => by.resend(delivery)}>
              Send again
            </Button>
          </p>
          <p class="hint" role="status">
            {by.isSending(id) ? 'Sending…' : 'Now, with the same id. Order and retries stay as they are.'}
          </p>
        </>
      )}
      {outcome instanceof Failure ? (
        <Problem failure={outcome} />
      ) : (
        outcome && <OutcomeBox what="Sent again" of={outcome} />
      )}
      {log.length === 0 ? <p class="quiet">Not tried yet.</p> : <Attempts of={log} />}
      {last && !outcome && last.answer !== null && (
        <>
          <p>What it answered last, up to 1 KiB:</p>
          <AnswerText of={last} />
        </>
      )}
      <Message of={delivery} endpoint={by.endpoint?.id ?? ''} />
    </Sheet>
  );
}

/** What each attempt sent, read when it is unfolded. */
function Message({ of: { id, event_id: event }, endpoint }: { of: Delivery; endpoint: string }): JSX.Element {
  const [message, setMessage] = useState<Answer<'message'> | Failure>();
  const read = async (): Promise<void> => {
    setMessage(await call('message', { webhook_id: endpoint, delivery: id }).catch(failureOf));
  };
  const headers = `content-type: application/json\nwebhook-id: ${event}\nwebhook-timestamp: (seconds, of the attempt)\nwebhook-signature: v1,…`;
  return (
    <details
      onToggle={({ currentTarget }) => {
        if (currentTarget.open && !message) void read();
      }}
    >
      <summary>What each attempt sent</summary>
      {message instanceof Failure && <Problem failure={message} again={read} />}
      {message && !(message instanceof Failure) && (
        <>
          <Copyable name="Headers" text={headers} />
          <Copyable name="Body" text={JSON.stringify(JSON.parse(message.body), undefined, 2)} />
        </>
      )}
    </details>
  );
}

function Attempts({ of: log }: { of: readonly Attempt[] }): JSX.Element {
  return (
    <table class="attempts">
      <caption>Attempts, newest first, including manual ones</caption>
      <HeadRow columns={['When', 'Outcome', 'Took']} />
      <tbody>
        {log.toReversed().map(({ at, ok, status, error, ms }, place) => (
          <tr key={place}>
            <td>
              <Ago at={at} /> <span class="quiet">{exact(at)}</span>
            </td>
            <td>
              <State of={ok ? 'succeeded' : 'failed'} words={ok ? `accepted: ${status}` : (error ?? '')} />
            </td>
            <td>{length(ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
