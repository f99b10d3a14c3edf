import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Answer, call, Failure, failureOf } from '../api';
import { Copyable } from '../dialog';
import { Ago, Button, Facts, Problem, State } from '../parts';
import { HeadRow } from '../table';
import { length, localTime } from '../time';
import { maySend } from './resending';
import { AnswerText, type Attempt, type Delivery, errorText, OutcomeBox } from './words';

/* A delivery beside the list, with its attempts and what each sent. */

export const STATES: Readonly<Record<Delivery['state'], { readonly words: string; readonly note?: string }>> = {
  delivered: { words: 'delivered' },
  waiting: { words: 'retrying' },
  held: { words: 'held back', note: 'behind an earlier event of the same object' },
  failed: { words: 'given up', note: 'all attempts failed' },
  skipped: { words: 'skipped', note: 'the endpoint was enabled from another time' },
};

/** Sends deliveries again, and knows how that went. */
interface Resender {
  readonly outcomeOf: (id: string) => Attempt | Failure | undefined;
  readonly isSending: (id: string) => boolean;
  readonly resend: (endpoint: string, delivery: Delivery) => Promise<void>;
}

interface DetailsProps {
  readonly of: Delivery;
  readonly endpoint: string;
  readonly by: Resender;
}

export function Details({ of: delivery, endpoint, by }: DetailsProps): JSX.Element {
  const { id, type, event_id: event, object_id: object, log, state } = delivery;
  const last = log.at(-1);
  const outcome = by.outcomeOf(id);
  return (
    <>
      <Facts
        of={[
          ['State', <State of={state} words={STATES[state].words} />],
          ['Object', object ?? 'none'],
          ['Event id (webhook-id)', event],
        ]}
      />
      {maySend && (
        <>
          <p class="buttons">
            <Button label={`Resend ${type}`} isBusy={by.isSending(id)} does={() => by.resend(endpoint, delivery)}>
              Resend
            </Button>
          </p>
          <p class="hint" role="status">
            {by.isSending(id) ? 'Sending…' : 'Now, with the same id. Order and retries stay as they are.'}
          </p>
        </>
      )}
      <div role="status">
        <OutcomeBox what="Sent again" of={outcome} />
      </div>
      {log.length === 0 ? <p class="quiet">Not tried yet.</p> : <Attempts of={log} />}
      {last && !outcome && last.answer !== null && (
        <>
          <p>The last answer, up to 1 KiB:</p>
          <AnswerText of={last} />
        </>
      )}
      <Message of={delivery} endpoint={endpoint} />
    </>
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
          <Copyable name="Body" text={message.body} />
        </>
      )}
    </details>
  );
}

function Attempts({ of: log }: { of: readonly Attempt[] }): JSX.Element {
  return (
    <table class="attempts">
      <caption>Attempts, newest first, including manual ones</caption>
      <HeadRow columns={['Time', 'Outcome', 'Duration']} />
      <tbody>
        {log.toReversed().map((attempt, place) => (
          <tr key={place}>
            <td>
              <Ago at={attempt.at} /> <span class="quiet">{localTime(attempt.at)}</span>
            </td>
            <td>
              <State
                of={attempt.ok ? 'succeeded' : 'failed'}
                words={attempt.ok ? `HTTP ${attempt.status}` : errorText(attempt)}
              />
            </td>
            <td>{length(attempt.ms)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
