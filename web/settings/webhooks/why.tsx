import type { JSX } from 'preact';
import { DAY, ENDPOINT_DISABLED_AFTER, ENDPOINT_FAILING_AFTER, RETRIED_HOURS } from '../../../src/units';
import { inWords } from '../numbers';
import { Ago } from '../parts';
import { type Attempt, type Endpoint, errorText } from './words';

/* Why an endpoint needs attention, and what to do. */

const DISABLED: Readonly<Record<string, string>> = {
  by_hand: 'Somebody disabled this endpoint, so nothing is sent to it. Enable it to send events again.',
  failures: `Everything that was sent to this endpoint failed for ${ENDPOINT_DISABLED_AFTER / DAY} days, so it was disabled. See below what it answered, fix it, send a test event, then enable it: from where it stopped, if that is at most 30 days ago.`,
  gone: 'This endpoint answered 410 Gone, which means that it wants no more events, so it was disabled. Delete it if it is no longer needed; otherwise change its URL or fix it, send a test event, and enable it.',
};
const LOST =
  'This endpoint was added, but the answer with its secret was lost on its way. Rotate its secret to get one that you can save, or delete it.';
const ACCEPTED =
  'The endpoint accepted what was sent by hand. That does not count: it stays failing until it accepts the oldest waiting event. To send that at once, and the others after it, press “Retry” and choose “From where it stopped”.';
const FAILING = `Fix your endpoint, then retry. The last events of ${ENDPOINT_FAILING_AFTER} different objects failed. Until one is accepted, only the oldest is retried; the others wait, and nothing is lost within 30 days. After ${ENDPOINT_DISABLED_AFTER / DAY} days of nothing but failures the endpoint is disabled.`;

interface WhyProps {
  readonly of: Endpoint;
  /** Whether the endpoint accepted something sent manually. */
  readonly hasAccepted: boolean;
  /** Whether the endpoint's secret never reached this page. */
  readonly isLost: boolean;
  readonly last: Attempt | undefined;
}

export function Why({ of: endpoint, hasAccepted, isLost, last }: WhyProps): JSX.Element | null {
  const text = isLost ? LOST : textOf(endpoint, hasAccepted);
  if (text === undefined) return null;
  const isWrong = isLost || endpoint.state !== 'enabled';
  return (
    <div class={isWrong ? 'alert' : 'info'}>
      {last && endpoint.failing_since !== null && (
        <p>
          <strong>
            Last failure: {errorText(last)}, <Ago at={last.at} />.
          </strong>
        </p>
      )}
      <p>{text}</p>
    </div>
  );
}

function textOf(endpoint: Endpoint, hasAccepted: boolean): string | undefined {
  const { state, disabled_reason: reason, waiting } = endpoint;
  if (state === 'disabled') return DISABLED[reason ?? ''];
  if (state === 'failing') return hasAccepted ? ACCEPTED : FAILING;
  if (waiting === 0) return undefined;
  return waiting === 1
    ? `One event failed and is retried automatically, for up to ${RETRIED_HOURS} hours. Later events of the same object wait behind it, so that they stay in order.`
    : `${inWords(waiting, 'event')} failed, or wait behind one that failed. They are retried automatically, for up to ${RETRIED_HOURS} hours, and events of the same object stay in order.`;
}
