import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { type Answer, call, Failure, failureOf, find, reason, settings, settled } from '../api';
import { ask, Field, type Next, useFault } from '../ask';
import type { Calls } from '../calls';
import { Copyable, Sheet, showSecret } from '../dialog';
import { nameElements } from '../keyChanges';
import { Customers, customerIdsOf, fault } from '../keyFields';
import { customersInWords } from '../keyNames';
import { say } from '../page';
import { exact } from '../time';
import { type Endpoint, Url } from './words';

/* The dialog for an endpoint's URL and types, and the one that shows its secret. */

type EndpointInput = Pick<Endpoint, 'url' | 'types' | 'customer_ids'>;

const NEW = { url: '', types: [], customer_ids: null } as const;

/** Explains types whose names do not. */
const NOTES: Readonly<Record<string, string>> = { 'feed.gap': 'Events may be missing.' };

function Types({ of: before }: { of: readonly string[] }): JSX.Element {
  const [isAll, setAll] = useState(before.length === 0);
  const [types, setTypes] = useState<ReadonlySet<string>>(new Set(before));
  const { place, described } = useFault('types');
  // the schema may have lost some of the endpoint's
  const all = [...new Set([...settings.eventTypes, ...before])];
  const objects = [...new Set(all.map((type) => type.split('.')[0] ?? ''))];
  const set = (changed: readonly string[], isIn: boolean): void =>
    setTypes(new Set([...types].filter((type) => !changed.includes(type)).concat(isIn ? changed : [])));
  const choice = (value: 'all' | 'some', text: string): JSX.Element => (
    <label>
      <input
        type="radio"
        name="which"
        value={value}
        checked={isAll === (value === 'all')}
        onChange={() => setAll(value === 'all')}
      />
      {text}
    </label>
  );
  return (
    <fieldset class="box" data-field="types" {...described}>
      <legend>Events</legend>
      {choice('all', 'All, including types added later')}
      {choice('some', 'Only these:')}
      {place}
      <div class="groups" hidden={isAll}>
        {objects.map((object) => {
          const objectTypes = all.filter((type) => type.startsWith(`${object}.`));
          const checked = objectTypes.filter((type) => types.has(type)).length;
          return (
            <fieldset key={object}>
              <legend>
                <label>
                  <input
                    type="checkbox"
                    checked={checked === objectTypes.length}
                    indeterminate={checked > 0 && checked < objectTypes.length}
                    onChange={({ currentTarget }) => set(objectTypes, currentTarget.checked)}
                  />
                  {object}
                </label>
              </legend>
              {objectTypes.map((type) => (
                <label key={type}>
                  <input
                    type="checkbox"
                    name="type"
                    value={type}
                    checked={types.has(type)}
                    onChange={({ currentTarget }) => set([type], currentTarget.checked)}
                  />
                  <span>
                    <code>{type.slice(object.length + 1)}</code> <span class="unseen">of {object}</span>
                    {NOTES[type] !== undefined && <span class="hint">{NOTES[type]}</span>}
                  </span>
                </label>
              ))}
            </fieldset>
          );
        })}
      </div>
    </fieldset>
  );
}

/** Asks for an endpoint's URL and types, and for those of a new one and its customers. */
function askEndpoint(
  title: string,
  button: string,
  before: EndpointInput & { readonly id?: string },
  work: (input: EndpointInput) => Promise<Next>,
): void {
  ask({
    title,
    button,
    // its secret would be lost
    asks: before === NEW,
    Body: () => (
      <>
        <Field
          name="url"
          label="URL"
          inputMode="url"
          spellcheck={false}
          maxLength={2000}
          placeholder="https://…"
          autofocus
          defaultValue={before.url}
          hint="An https URL that is reachable from the internet, or an address that the operator of this gateway allows."
        />
        <Types of={before.types} />
        {before === NEW ? (
          <Customers what="an endpoint that gets events of these customers, of what belongs to them, and of what belongs to no customer" />
        ) : (
          before.customer_ids && (
            <p class="info">
              It gets events of {customersInWords(before.customer_ids)} alone, which cannot be changed.
            </p>
          )
        )}
      </>
    ),
    of: before.id,
    doing: (entered) => `Saving the endpoint ${entered.get('url') as string}…`,
    async work(data) {
      const url = (data.get('url') as string).trim();
      const types = data.get('which') === 'all' ? [] : (data.getAll('type') as string[]);
      const missing = [
        ...(url === '' ? [fault('url', 'enter a URL, e.g. https://example.com/webhooks')] : []),
        ...(data.get('which') === 'some' && types.length === 0
          ? [fault('types', 'select at least one type, or all')]
          : []),
      ];
      const [first] = missing;
      if (first) throw new Failure(first.message, { code: 'page', faults: missing.flatMap(({ faults }) => faults) });
      const input = { url, types, customer_ids: customerIdsOf(data) };
      const [next, failure] = await settled(work(input));
      if (!failure) return next;
      nameElements(failure, input);
      throw failure;
    },
  });
}

interface Adding {
  readonly endpoints: readonly Endpoint[];
  /** Reads the list again. @throws Failure */
  readonly read: () => Promise<readonly Endpoint[]>;
  readonly changed: () => void;
  /** Shows an endpoint that was added although the answer with its secret was lost. */
  readonly showLost: (endpoint: Endpoint) => void;
}

/** Asks for a new endpoint, creates it and shows its secret. Warns first if another endpoint has the same URL. */
export function addEndpoint({ endpoints, read, changed, showLost }: Adding): void {
  let askedAbout: string | undefined;
  askEndpoint('Add a webhook endpoint', 'Add endpoint', NEW, async (input) => {
    if (askedAbout !== input.url && endpoints.some(({ url }) => isSame(url, input.url))) {
      askedAbout = input.url;
      throw fault('url', TWICE);
    }
    try {
      const answer = await call('createEndpoint', input);
      return () => {
        showNewSecret(answer);
        changed();
      };
    } catch (error) {
      const failure = failureOf(error);
      if (!failure.isUnsure) throw failure;
      const all = await read().catch(() => undefined);
      const added = all?.find(
        ({ id, url }) => endpoints.every((endpoint) => endpoint.id !== id) && isSame(url, input.url),
      );
      if (added)
        return () => {
          changed();
          showLost(added);
        };
      const then = all
        ? 'It is not in the list, which was read again just now.'
        : 'The list could not be read either: look there before you try again.';
      throw new Failure(`${reason(failure)} We couldn’t confirm that the endpoint was added. ${then}`);
    }
  });
}

const TWICE =
  'There is already an endpoint with this URL; it will get twice what both are for. Press Add endpoint again to add it anyway.';

/** Whether a stored URL is the one that was typed. */
function isSame(stored: string, typed: string): boolean {
  return URL.canParse(typed) && new URL(typed).href.replace(/#.*/, '') === stored;
}

/** Called after a change, or if the endpoint turns out to be deleted. */
export interface After {
  readonly changed: () => void;
  readonly gone: () => void;
}

/** Sends only what was changed on this page, so that what somebody else has changed meanwhile stays. */
export function editEndpoint(endpoint: Endpoint, { changed, gone }: After): void {
  askEndpoint('Edit this endpoint', 'Save', endpoint, async ({ url, types }) => {
    const changes = {
      ...(url !== endpoint.url && { url }),
      ...(String(types.toSorted()) !== String(endpoint.types.toSorted()) && { types }),
    };
    if (Object.keys(changes).length === 0) return 'Nothing was changed.';
    return change('updateEndpoint', { webhook_id: endpoint.id, ...changes }, gone, () => {
      say('Saved the endpoint.');
      changed();
    });
  });
}

type Change = 'updateEndpoint' | 'rotateEndpoint' | 'enableEndpoint' | 'disableEndpoint' | 'deleteEndpoint';

/** Changes an endpoint. Resolves with what to run next: `then(result)`, or `gone` if it was deleted meanwhile. @throws Failure */
export async function change<Operation extends Change>(
  operation: Operation,
  variables: Calls[Operation]['variables'],
  gone: () => void,
  then: (answer: Answer<Operation>) => void,
): Promise<() => void> {
  const answer = await find(operation, variables);
  return answer === null ? gone : () => then(answer);
}

/** Shows a signing secret once. */
export function showNewSecret({ secret, endpoint }: Answer<'rotateEndpoint'>): void {
  const { url, old_secret_until: until } = endpoint;
  showSecret(`The signing secret of ${url} is ready. It is shown once.`, 'Show the secret', () => (
    <Sheet title="Save this signing secret now" button="I have saved it">
      <p>
        It will not be shown again. Your server needs it to check that what arrives comes from here:{' '}
        <a href="/guides/webhooks" target="_blank">
          how to receive webhooks
        </a>
        .
      </p>
      <p>
        Endpoint: <Url of={url} />
      </p>
      <Copyable name="The signing secret" text={secret} isFirst />
      {until !== null && <p>Everything is also signed with the old secret until {exact(until)}.</p>}
    </Sheet>
  ));
}
