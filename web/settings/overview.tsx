import { type JSX, render } from 'preact';
import { type Answer, callOf, settings } from './api';
import { type Attention, NeedsAttention, readAttention } from './attention';
import { mayMake } from './keyChanges';
import { makeKey } from './keyDialogs';
import { createNewestKeys, readNames } from './keyNames';
import { Reading } from './list';
import { Button, Heading, KeepsFocus, Outdated, Problem } from './parts';
import { type InPeriod, inPeriod, type Period, periodInAddress, Periods, spanOf } from './periods';
import { placeOf } from './route';
import { AGE, Codes, Figures, Operations, TopKeys } from './usage';
import type { Endpoint } from './webhooks/words';

/* What to do first, and the requests of all keys. */

const call = callOf('integrations');
const addressOf = (filters: string): string => `/settings/requests?${filters}`;

/** `endpoints` reads the webhook endpoints. */
export function overviewPage(endpoints: () => Promise<readonly Endpoint[]>) {
  const place = placeOf('integrations');
  let period: Period = 'last_24h';
  const keys = createNewestKeys(call, draw);
  const usage = new Reading(() => inPeriod(period, call('allUsage', { period })), draw);
  const byKey = new Reading(async () => {
    const answer = await inPeriod(period, call('usageByKey', { period }));
    void readNames(answer.data.map(({ key_id: id }) => id)).then(draw);
    return answer;
  }, draw);
  const attention = new Reading<Attention>(() => readAttention(endpoints), draw);

  const loadUsage = (): Promise<unknown> => Promise.all([usage.load(), byKey.load()]);
  async function load(): Promise<void> {
    await Promise.all([keys.load(), attention.load(), loadUsage()]);
  }

  function draw(): void {
    const lost = [keys, usage, byKey, attention].find(({ failure }) => failure);
    // no key was ever created
    const isNew = keys.value?.data.length === 0;
    render(
      <KeepsFocus>
        <Heading id="integrations-title" title="Overview">
          {!isNew && (
            <Periods
              name="overview"
              label="Period of the overview"
              of={period}
              change={(to) => {
                period = to;
                void loadUsage();
              }}
            />
          )}
        </Heading>
        <Problem failure={lost?.failure} again={() => lost?.again()} />
        {attention.value && <NeedsAttention of={attention.value} />}
        {isNew && <FirstSteps />}
        {!isNew && usage.value && !usage.failure && (
          <Outdated is={usage.value.period !== period} isBusy={usage.isBusy}>
            <Traffic of={usage.value} byKey={byKey.value} />
          </Outdated>
        )}
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

function FirstSteps(): JSX.Element {
  const reference = <a href="/api/v1/docs">reference</a>;
  return (
    <>
      <p>
        Programs call the API with a key. A key belongs to this organisation, does only what its scopes allow, and can
        be limited to some addresses and to a time. Its value is shown once, when it is created: keep it where your
        program reads its secrets.
      </p>
      {mayMake ? (
        <>
          <ol>
            <li>Create a key with the scopes that your program needs; “Read only” is enough to look around.</li>
            <li>Run the request that is shown with it in a terminal.</li>
            <li>Look up the other requests in the {reference}.</li>
          </ol>
          <p class="buttons">
            <Button class="primary" does={makeKey}>
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

interface TrafficProps {
  readonly of: InPeriod<Answer<'allUsage'>>;
  readonly byKey: InPeriod<Answer<'usageByKey'>> | undefined;
}

function Traffic({ of: usage, byKey }: TrafficProps): JSX.Element {
  const { period } = usage;
  return (
    <>
      {usage.requests === 0 && (
        <p class="hint">
          No requests in {spanOf(period)}. {AGE} What can be requested is in the <a href="/api/v1/docs">reference</a>.
        </p>
      )}
      <Figures of={usage} addressOf={addressOf} whose="all keys" />
      <div class="halves">
        {byKey?.period === period && <TopKeys of={byKey} />}
        <Codes of={usage} addressOf={addressOf} />
      </div>
      <Operations of={usage.operations} />
    </>
  );
}
