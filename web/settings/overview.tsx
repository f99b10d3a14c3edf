import { type JSX, render } from 'preact';
import { type Answer, callOf, type Key, now, settings } from './api';
import { firstCalls } from '../../src/settings/documents';
import type { KeyActions } from './keys';
import { KeyLink, keyText, noteNames, shownName } from './keyNames';
import { Reading } from './list';
import { Ago, Button, KeepsFocus, Problem } from './parts';
import { placeOf } from './route';
import {
  AGE,
  Chart,
  Codes,
  FailedLink,
  Operations,
  type Period,
  periodInAddress,
  Periods,
  spanOf,
  Totals,
} from './usage';

/* Which keys expire soon, what to do first, and the requests of all keys. */

const call = callOf('integrations');
/** How many of the expiring keys are listed. */
const MOST = 20;

export function overviewPage({ make, rotate }: KeyActions) {
  const place = placeOf('integrations');
  let period: Period = 'last_24h';
  const keys = new Reading<Answer<'newestKeys'>>(async () => {
    const answer = await call('newestKeys');
    noteNames(answer.data);
    return answer;
  }, draw);
  const usage = new Reading<Answer<'allUsage'>>(() => call('allUsage', { period }), draw);
  const expiring = new Reading<readonly Key[]>(readExpiring, draw);

  async function load(): Promise<void> {
    await Promise.all([keys.load(), expiring.load(), usage.load()]);
  }

  function draw(): void {
    const lost = [keys, usage, expiring].find(({ failure }) => failure);
    // no key was ever created
    const isNew = keys.value?.data.length === 0;
    render(
      <KeepsFocus>
        <div class="heading">
          <h1 id="integrations-title" tabIndex={-1}>
            Overview
          </h1>
          {!isNew && (
            <Periods
              name="overview"
              label="Period of the overview"
              of={period}
              change={(to) => {
                period = to;
                void usage.load();
              }}
            />
          )}
        </div>
        <Expiring keys={expiring.value ?? []} rotate={rotate} />
        <Problem failure={lost?.failure} again={() => lost?.again()} />
        {isNew && <FirstSteps make={make} />}
        {!isNew && usage.value && !usage.failure && <Traffic of={usage.value} period={period} />}
      </KeepsFocus>,
      place,
    );
  }

  draw();
  return {
    open(): Promise<void> {
      period = periodInAddress();
      return load();
    },
    refresh: load,
  };
}

/** Active keys that nothing has replaced yet; those that expire soonest come first. All are read, since the gateway lists the newest keys first. */
async function readExpiring(): Promise<readonly Key[]> {
  // all pages of a list need the same time
  const { expires_before } = firstCalls(now()).integrations.expiringKeys;
  const expiring: Key[] = [];
  let cursor: string | null = null;
  do {
    const page: Answer<'expiringKeys'> = await call('expiringKeys', { expires_before, cursor });
    expiring.push(...page.data);
    cursor = page.next_cursor;
  } while (cursor !== null && expiring.length < 1000);
  noteNames(expiring);
  return expiring.sort((left, right) => Date.parse(left.expires_at ?? '') - Date.parse(right.expires_at ?? ''));
}

function Expiring({ keys, rotate }: { keys: readonly Key[]; rotate: KeyActions['rotate'] }): JSX.Element {
  const mayRotate = settings.mayChange && settings.hasPlan;
  return (
    <div class="info warning" hidden={keys.length === 0}>
      <h2 id="expiring-title">
        {keys.length} {keys.length === 1 ? 'key expires' : 'keys expire'} within 7 days
      </h2>
      <ul id="expiring-keys" aria-labelledby="expiring-title">
        {keys.slice(0, MOST).map((key) => (
          <li class="heading" key={key.id}>
            <span>
              <KeyLink id={key.id} /> <code>{keyText(key)}</code> expires <Ago at={key.expires_at} />
            </span>
            {mayRotate && (
              <Button label={`Rotate ${shownName(key)}`} does={() => rotate(key)}>
                Rotate…
              </Button>
            )}
          </li>
        ))}
      </ul>
      <p class="hint" hidden={keys.length <= MOST}>
        There are more among the <a href="/settings/keys">API keys</a>.
      </p>
    </div>
  );
}

function FirstSteps({ make }: Pick<KeyActions, 'make'>): JSX.Element {
  const reference = <a href="/api/v1/docs">reference</a>;
  return (
    <>
      <p>
        Programs call the API with a key. A key belongs to this organisation, does only what its scopes allow, and can
        be limited to some addresses and to a time. Its value is shown once, when it is created: keep it where your
        program reads its secrets.
      </p>
      {make ? (
        <>
          <ol>
            <li>Create a key with the scopes that your program needs; “Read only” is enough to look around.</li>
            <li>Run the request that is shown with it in a terminal.</li>
            <li>Look up the other requests in the {reference}.</li>
          </ol>
          <p class="buttons">
            <Button class="primary" does={make}>
              Create the first key
            </Button>
          </p>
        </>
      ) : (
        <p>
          There is none yet.{' '}
          {settings.mayChange
            ? 'Upgrade the plan to create one, or try the API in the sandbox, where keys can be created on every plan'
            : 'Ask an admin of the organisation to create one'}
          ; the {reference} shows what can be requested with it.
        </p>
      )}
    </>
  );
}

function Traffic({ of: usage, period }: { of: Answer<'allUsage'>; period: Period }): JSX.Element {
  if (usage.requests === 0)
    return (
      <p class="hint">
        No requests in {spanOf(period)}. {AGE} What can be requested is in the <a href="/api/v1/docs">reference</a>.
      </p>
    );
  return (
    <>
      <Totals
        of={[
          ['Requests', usage.requests],
          ['Errors', <FailedLink of={usage.errors} at="/settings/requests" period={period} />],
          ['429s', usage.rate_limited],
        ]}
      />
      <Chart of="all keys" usage={usage} period={period} />
      <details>
        <summary>By operation</summary>
        <Operations of={usage.operations} name={{ 'aria-label': 'Requests by operation' }} />
      </details>
      {usage.codes.length > 0 && (
        <details>
          <summary>By error code</summary>
          <Codes
            of={usage.codes}
            name={{ 'aria-label': 'Requests by error code' }}
            at="/settings/requests"
            period={period}
          />
        </details>
      )}
      <p class="hint">
        Of all keys, the revoked and expired ones included. Figures are up to a minute old; times are in UTC. Errors are
        requests that failed, except with status 429; requests with a key that is revoked or has expired are not
        counted, but listed among the failed ones.
      </p>
    </>
  );
}
