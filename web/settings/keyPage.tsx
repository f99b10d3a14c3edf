import { type JSX, render } from 'preact';
import { MissingScopes } from './addScope';
import { type Answer, call, find, type Key, settings } from './api';
import { EventTable } from './events';
import { editKey, revokeKey } from './keyChanges';
import { MCP } from './keyFields';
import { rotateKey } from './keyDialogs';
import { KeyLink, keyText, nameOf, noteNames, shownName } from './keyNames';
import { List, Reading } from './list';
import { Ago, Button, Chips, type FactList, Facts, Heading, KeepsFocus, Problem, State } from './parts';
import { Requests } from './requests';
import { entitle, isShown, listAddress, notFound, type PageOf, placeOf, shownId } from './route';
import { exact } from './time';
import { inPeriod, type Period, periodInAddress } from './periods';
import { KeyUsage } from './usage';

/* The page of one key. */

/** A key, the one that replaced it and the one that it replaced. */
interface KeyChain {
  readonly key: Key;
  readonly next: Key | null;
  readonly previous: Key | null;
}

export function keyPage(): PageOf {
  const place = placeOf('key');
  let period: Period = 'last_24h';
  // answers about any key other than the one shown are dropped
  const reading = new Reading<KeyChain>(read, draw, load);
  const refused = new Reading<Answer<'missingScopes'>>(() => call('missingScopes', { key_id: shownId() }), draw);
  const usage = new Reading(() => inPeriod(period, call('usage', { key_id: shownId(), period })), draw);
  const requests = new Requests(draw, true);
  const events = new List<Answer<'events'>>((cursor) => call('events', { key_id: shownId(), limit: 20, cursor }), draw);

  async function load(): Promise<void> {
    await reading.load();
    const { value } = reading;
    if (!value || reading.failure) return;
    await Promise.all([refused.load(), usage.load(), requests.open(), events.load()]);
  }

  function close(): void {
    for (const part of [reading, refused, usage, events]) part.clear();
    requests.close();
  }

  function draw(): void {
    const { value, failure } = reading;
    const name = value ? shownName(value.key) : (nameOf(shownId()) ?? 'API key');
    if (isShown('key')) entitle(name);
    render(
      <KeepsFocus>
        <p class="crumbs">
          <a href={listAddress('keys')}>API keys</a>
        </p>
        <Heading id="key-title" title={name}>
          {value && <StateOf of={value.key} />}
          {value && settings.mayChange && <Actions of={value} />}
        </Heading>
        <Problem failure={failure} again={reading.again} />
        {value && !failure && (
          <>
            <Notice of={value} />
            <MissingScopes of={value.key} refused={refused.value?.data ?? []} />
            <div class="split">
              <KeyUsage
                of={usage}
                whose={value.key}
                period={period}
                change={(to) => {
                  period = to;
                  void usage.load();
                }}
              />
              <Facts of={factsOf(value)} />
            </div>
            <section aria-labelledby="key-requests-title">{requests.view()}</section>
            <section aria-labelledby="key-events-title">
              <Heading as="h2" id="key-events-title" title="Audit log of this key" />
              <EventTable
                of={events}
                name="key-events-title"
                none="Nothing yet. If it replaced another key, that is in the audit log of the other one."
              />
            </section>
          </>
        )}
      </KeepsFocus>,
      place,
    );
  }

  draw();
  const open = (): Promise<void> => {
    period = periodInAddress();
    return load();
  };
  return { open, refresh: load, close };
}

async function read(): Promise<KeyChain> {
  const key = await find('key', { key_id: shownId() });
  if (!key) throw notFound('There is no such API key.', 'keys', 'All API keys');
  const [next, { data }] = await Promise.all([
    // deleted, maybe, after its end
    key.rotated_to === null ? null : find('key', { key_id: key.rotated_to }),
    call('replacedKeys', { replaced_by: key.id }),
  ]);
  const previous = data[0] ?? null;
  noteNames([key, next, previous].filter((entry) => entry !== null));
  return { key, next, previous };
}

function Actions({ of: { key, next } }: { of: KeyChain }): JSX.Element | null {
  const { hasPlan } = settings;
  if (key.state !== 'active') return null;
  return (
    <p class="buttons">
      {hasPlan && (
        <Button class="primary" does={() => editKey(key)}>
          Edit
        </Button>
      )}
      {
        // the gateway refuses to rotate a key whose replacement works, and that of an app
        hasPlan && key.kind === 'key' && next?.state !== 'active' && <Button does={() => rotateKey(key)}>Rotate</Button>
      }
      <Button does={() => revokeKey(key)}>Revoke</Button>
    </p>
  );
}

/** The replacement of a key, or the key it replaced. */
const Other = ({ of: key }: { of: Key }): JSX.Element => (
  <>
    <KeyLink id={key.id} /> <code>{keyText(key)}</code>
  </>
);

function StateOf({ of: key }: { of: Key }): JSX.Element {
  const { state, revoked_at: revoked, expires_at: expires, rotated_to: to } = key;
  const since = state === 'revoked' ? revoked : expires;
  return (
    <span>
      <State of={state} /> {state === 'active' && expires !== null && (to === null ? '· expires ' : '· ends ')}
      <Ago at={since} />
    </span>
  );
}

/** Why requests with the key fail, or will fail. */
function Notice({ of: { key, next } }: { of: KeyChain }): JSX.Element | null {
  const { state, expires_at: expires } = key;
  const isEnded = state !== 'active';
  if (!isEnded && next === null && settings.hasPlan) return null;
  return (
    <p class="info">
      {next && (
        <>
          Replaced by <Other of={next} />.{' '}
        </>
      )}
      {isEnded && 'Every request with it gets a 401.'}
      {!isEnded &&
        next &&
        expires !== null &&
        `It works until ${exact(expires)}${next.state === 'active' ? ': switch to the new one before then' : `; the new one is ${next.state}`}. `}
      {!isEnded && !settings.hasPlan && 'The plan does not include integrations: every request with it gets a 403.'}
    </p>
  );
}

function factsOf({ key, previous }: KeyChain): FactList {
  const { scopes, mcp, allowed_ranges: ranges, customer_ids: customers, created_at: created, created_by: by } = key;
  const { state } = key;
  const end = state === 'revoked' ? key.revoked_at : key.expires_at;
  const endName = { active: 'Expires', revoked: 'Revoked', expired: 'Expired' }[state];
  return [
    key.app === null ? ['Key', <code>{keyText(key)}</code>] : ['Connected app', `at ${key.app.host}`],
    ['Scopes', <Chips of={scopes} />],
    ['Allowed addresses', ranges.length === 0 ? 'any' : <Chips of={ranges} />],
    ['Customers', customers === null ? 'all' : <Chips of={customers} />],
    ['Assistants, over MCP', MCP[mcp]],
    [
      endName,
      end === null ? (
        'never'
      ) : (
        <>
          <Ago at={end} /> ({exact(end)})
        </>
      ),
    ],
    [
      'Created',
      <>
        <Ago at={created} /> by {by}
      </>,
    ],
    ...(previous === null ? [] : ([['Replaces', <Other of={previous} />]] as const)),
  ];
}
