import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { DAY } from '../../../src/units';
import { Failure, failureOf, now, reason } from '../api';
import { ask, Field, type Question } from '../ask';
import { redraw } from '../dialog';
import { fault } from '../keyFields';
import { inWords } from '../numbers';
import { say } from '../page';
import { exact, localInput, TIME_ZONE } from '../time';
import { type After, change, showNewSecret } from './edit';
import { type Endpoint, Url } from './words';

/* Rotating, enabling, disabling and deleting an endpoint. Each asks first. */

/** Added to “now”, in milliseconds, so that it is later than everything that has already happened. */
const SURELY_LATER = 5000;

function askAbout({ id, url }: Endpoint, question: Omit<Question, 'of' | 'doing'>): void {
  ask({ ...question, of: id, doing: () => `${question.button}: ${url}…` });
}

/** `read()` reads the endpoint again, since somebody else may have rotated its secret; null if it no longer exists. */
export function rotateSecret(
  endpoint: Endpoint,
  { read, changed, gone }: After & { readonly read: () => Promise<Endpoint | null> },
): void {
  const { id, url } = endpoint;
  /** When the previous secret stops signing, as last read. */
  let until: string | null = null;
  const note = (fresh: Endpoint): void => {
    until = fresh.old_secret_until;
    redraw();
  };
  askAbout(endpoint, {
    title: 'Rotate the secret?',
    button: 'Rotate secret',
    asks: true,
    Body: () => (
      <>
        <p>
          <Url of={url} /> gets a new signing secret. For 24 hours everything is signed with both, so that you can
          switch your server without losing anything; then the old one is no longer used.
        </p>
        {until !== null && (
          <p class="info">
            The secret was rotated less than 24 hours ago, and the old one still signs until {exact(until)}. If you
            rotate again, the old one ends at once: your server must have the current one by then.
          </p>
        )}
      </>
    ),
    async prepare() {
      try {
        const current = await read();
        if (current === null) return gone;
        note(current);
        return undefined;
      } catch (error) {
        throw new Failure(`${reason(failureOf(error))} The endpoint could not be read: nothing was changed.`);
      }
    },
    async work() {
      try {
        return await change('rotateEndpoint', { webhook_id: id }, gone, (answer) => {
          showNewSecret(answer);
          changed();
        });
      } catch (error) {
        const failure = failureOf(error);
        if (!failure.isUnsure) throw failure;
        const after = await read().catch(() => undefined);
        if (after === null) return gone;
        const why = reason(failure);
        if (!after) throw new Failure(`${why} We couldn’t confirm that the secret was rotated.`);
        if (after.old_secret_until === until) throw new Failure(`${why} The secret was not rotated so far.`);
        note(after);
        changed();
        throw new Failure(
          `${why} The secret was rotated meanwhile, by this page or by somebody else, and the new one is not known here. The old one signs until ${exact(until ?? '')}. First look in the audit log who rotated it, and ask whether they have the new secret; if nobody has, rotate again.`,
        );
      }
    },
  });
}

const ENABLING = {
  disabled: { title: 'Enable this endpoint?', button: 'Enable endpoint', done: 'Enabled the endpoint.' },
  failing: { title: 'Retry this endpoint?', button: 'Retry', done: 'The endpoint is being retried.' },
  enabled: { title: 'Send events again?', button: 'Send again', done: 'The events are being sent.' },
};
const STARTS = {
  stopped: ['From where it stopped', 'Everything since then is sent, oldest first. What failed is tried at once.'],
  time: [
    'From a time',
    'Every event since then is sent, with the same id as before if it was sent already. Events waiting to be retried are skipped.',
  ],
  now: [
    'From now on',
    'What happened meanwhile is not sent, and events waiting to be retried are skipped. You can still send it later, from a time: events are kept for 30 days.',
  ],
} as const;

export function enableEndpoint(endpoint: Endpoint, { changed, gone }: After): void {
  const { id, url, state } = endpoint;
  const { done, ...words } = ENABLING[state];
  function Body(): JSX.Element {
    // an enabled endpoint has not stopped anywhere
    const starts = Object.entries(STARTS).filter(([start]) => start !== 'stopped' || state !== 'enabled');
    const [chosen, setChosen] = useState(starts[0]?.[0]);
    return (
      <>
        <p>
          Send to <Url of={url} />:
        </p>
        <fieldset class="box">
          <legend>Which events</legend>
          {starts.map(([start, [name, meaning]]) => (
            <div key={start}>
              <label>
                <input
                  type="radio"
                  name="start"
                  value={start}
                  checked={start === chosen}
                  onChange={() => setChosen(start)}
                  aria-describedby={`from-${start}`}
                />
                {name}
              </label>
              <p class="hint" id={`from-${start}`}>
                {meaning}
              </p>
            </div>
          ))}
        </fieldset>
        {chosen === 'time' && (
          <Field
            name="from"
            label="Time"
            isTime
            defaultValue={localInput(now() - DAY)}
            hint={`At most 30 days ago, in your time zone (${TIME_ZONE}).`}
          />
        )}
      </>
    );
  }
  askAbout(endpoint, {
    ...words,
    Body,
    work: (entered) =>
      change('enableEndpoint', { webhook_id: id, from: startOf(entered) }, gone, () => {
        say(done);
        changed();
      }),
  });
}

/** The `from` of a choice. @throws Failure if the choice needs a time and has none */
function startOf(entered: FormData): string | null {
  const start = entered.get('start');
  if (start === 'stopped') return null;
  if (start === 'now') return new Date(now() + SURELY_LATER).toISOString();
  // without an offset it is in the browser's time zone
  const at = Date.parse(entered.get('from') as string);
  if (Number.isNaN(at)) throw fault('from', 'enter a date and a time');
  if (at > now()) throw fault('from', 'must not be in the future; choose "From now on" instead');
  return new Date(at).toISOString();
}

export function disableEndpoint(endpoint: Endpoint, { changed, gone }: After): void {
  askAbout(endpoint, {
    title: 'Disable this endpoint?',
    button: 'Disable endpoint',
    isDangerous: true,
    Body: () => (
      <p>
        Nothing more is sent to <Url of={endpoint.url} /> until it is enabled again. If that is within 30 days, it can
        then get everything from where it stopped.
      </p>
    ),
    work: () =>
      change('disableEndpoint', { webhook_id: endpoint.id }, gone, () => {
        say('Disabled the endpoint.');
        changed();
      }),
  });
}

export function deleteEndpoint(endpoint: Endpoint, deleted: () => void): void {
  const { id, url, waiting } = endpoint;
  const done = (): void => {
    say(`Deleted the endpoint ${url}.`);
    deleted();
  };
  askAbout(endpoint, {
    title: 'Delete this endpoint?',
    button: 'Delete endpoint',
    isDangerous: true,
    Body: () => (
      <>
        <p>
          <Url of={url} /> gets nothing more, its secret is never used again, and the list of what was sent to it goes.
          This cannot be undone.
        </p>
        {waiting > 0 && <p>{inWords(waiting, 'event')} waiting to be retried are never sent.</p>}
        <p class="hint">To stop for a while, disable it instead.</p>
      </>
    ),
    // if it is gone, somebody else deleted it, or the answer to an earlier attempt was lost
    work: () => change('deleteEndpoint', { webhook_id: id }, done, done),
  });
}
