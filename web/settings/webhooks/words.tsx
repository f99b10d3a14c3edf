import { Fragment, type JSX } from 'preact';
import { DAY, ENDPOINT_DISABLED_AFTER, EVENTS_KEPT_FOR, SECOND } from '../../../src/units';
import { type Answer, Failure } from '../api';
import { inWords } from '../numbers';
import { Ago, Chips, Problem, State } from '../parts';
import { length, span } from '../time';

/* An endpoint's state in words. */

export type Endpoint = Answer<'endpoints'>['data'][number];
export type Delivery = Answer<'deliveries'>['data'][number];
export type Attempt = Delivery['log'][number];

/** A URL that is broken into lines at its slashes if possible. */
export function Url({ of: url }: { of: string }): JSX.Element {
  const parts = url.split(/(?<=[^/:]\/)/);
  return (
    <span class="url">
      {parts.map((part, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {part}
        </Fragment>
      ))}
    </span>
  );
}

/** Types of events: at most `most` of them, and the number of the others. */
export function Types({ of: types, most = types.length }: { of: readonly string[]; most?: number }): JSX.Element {
  if (types.length === 0) return <>all</>;
  const rest = types.length - most;
  return <Chips of={rest > 0 ? [...types.slice(0, most), `and ${rest} more`] : types} />;
}

const DISABLED: Readonly<Record<string, string>> = {
  by_hand: 'by hand',
  failures: `after nothing but failures for ${ENDPOINT_DISABLED_AFTER / DAY} days`,
  gone: 'because it answered 410 Gone',
};
/** Shown for an attempt that is due. */
export const SOON = 'in a moment';

/** An enabled endpoint with retries pending is not shown as healthy. */
export function EndpointState({ of: { state, waiting } }: { of: Endpoint }): JSX.Element {
  return state === 'enabled' && waiting > 0 ? <State of="waiting" words="retrying" /> : <State of={state} />;
}

/** Details of an endpoint's state, beside its name. */
export function StateNote({ of: endpoint }: { of: Endpoint }): JSX.Element | null {
  const { state, disabled_reason: reason, disabled_at: at, failing_since: since, next_attempt_at: next } = endpoint;
  if (state === 'disabled')
    return (
      <>
        {DISABLED[reason ?? '']} <Ago at={at} />
      </>
    );
  if (since === null) return null;
  return (
    <>
      {state === 'enabled' && 'some events fail; '}the first failed <Ago at={since} />
      {state !== 'enabled' && next !== null && (
        <>
          . Next retry <Ago at={next} past={SOON} />
        </>
      )}
    </>
  );
}

/** When a delivery is retried; a failing endpoint gets only its oldest. */
export function NextAttempt(props: { of: Delivery; endpoint: Endpoint; isOldest: boolean }): JSX.Element {
  const { of: delivery, endpoint, isOldest } = props;
  const next = delivery.next_attempt_at;
  if (next === null) return <>–</>;
  if (endpoint.state === 'disabled') return <>when it is enabled</>;
  if (endpoint.state !== 'failing') return <Ago at={next} past={SOON} />;
  return isOldest ? <Ago at={endpoint.next_attempt_at ?? next} past={SOON} /> : <>after the oldest is accepted</>;
}

/** Events are kept so long, in seconds; older ones no longer count as lag. */
const KEPT = EVENTS_KEPT_FOR / SECOND;

/** How old the oldest event is that an endpoint has not got yet. */
export function OldestUndelivered({ of: { lag_seconds: lag, waiting, state } }: { of: Endpoint }): JSX.Element {
  // a failing endpoint is sent no others, and they are not counted
  const retries = `${inWords(waiting, 'event')} waiting to be retried${state === 'failing' ? '; later ones wait, too' : ''}`;
  if (lag === 0 && waiting > 0) return <>{retries}</>;
  const words = lag === null ? 'not known' : lag === 0 ? 'none' : lag > KEPT ? 'more than 30 days' : span(lag);
  return (
    <>
      {words}
      {waiting > 0 && <span class="quiet">{retries}</span>}
    </>
  );
}

/** What went wrong: `HTTP 500`, or why there was no answer. Gateways of earlier versions stored statuses in a sentence. */
export function errorText({ status, error }: Pick<Attempt, 'status' | 'error'>): string {
  return status !== null && error?.startsWith('the answer was') === true ? `HTTP ${status}` : (error ?? '');
}

export function Outcome({ of: attempt }: { of: Attempt }): JSX.Element {
  return (
    <>
      {attempt.ok ? `Accepted: HTTP ${attempt.status}` : `Failed: ${errorText(attempt)}`} after {length(attempt.ms)}.
    </>
  );
}

interface OutcomeBoxProps {
  /** Names the attempt. */
  readonly what: string;
  /** Undefined before, and while it is made. */
  readonly of: Attempt | Failure | undefined;
  readonly again?: () => unknown;
}

/** The outcome of a manual attempt with the endpoint's answer, or why it was not made. */
export function OutcomeBox({ what, of: attempt, again }: OutcomeBoxProps): JSX.Element | null {
  if (!attempt) return null;
  if (attempt instanceof Failure) return <Problem failure={attempt} again={again} />;
  return (
    <div class={`outcome ${attempt.ok ? 'good' : 'bad'}`}>
      <p>
        <strong>{what}:</strong> <Outcome of={attempt} />
      </p>
      <AnswerText of={attempt} />
    </div>
  );
}

/** The part of an answer that was kept, if any. */
export function AnswerText({ of: { answer } }: { of: Attempt }): JSX.Element | null {
  if (answer === null) return null;
  return (
    <pre class="answer" tabIndex={0} aria-label="What it answered">
      <code>{answer}</code>
    </pre>
  );
}
