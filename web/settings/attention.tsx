import type { ComponentChildren, JSX } from 'preact';
import { type Answer, callOf, find, type Key, now } from './api';
import { EXPIRES_WITHIN, firstCalls, UNUSED_FOR } from '../../src/settings/documents';
import { mayMake } from './keyChanges';
import { rotateKey } from './keyDialogs';
import { KeyLink, keyText, noteNames, shownName } from './keyNames';
import { Ago, Button } from './parts';
import { type Attempt, errorText, type Endpoint, EndpointState, Url } from './webhooks/words';

/* What somebody should look at: keys that expire soon, keys that nobody uses, and webhook endpoints that fail. */

const first = callOf('integrations');
/** How many of each are listed; of keys that expire, more. */
const [MOST_EXPIRING, MOST] = [20, 5];

interface Failing {
  readonly endpoint: Endpoint;
  readonly last: Attempt | undefined;
}

export interface Attention {
  readonly expiring: readonly Key[];
  readonly unused: Answer<'unusedKeys'>;
  readonly failing: readonly Failing[];
}

/** One after another: the answers to the first calls are there, and a gateway that recovers must not be flooded. */
export async function readAttention(endpoints: () => Promise<readonly Endpoint[]>): Promise<Attention> {
  const expiring = await readExpiring();
  const unused = await first('unusedKeys');
  const failing = await readFailing(await endpoints());
  noteNames([...expiring, ...unused.data]);
  return { expiring, unused, failing };
}

/** Active keys that nothing has replaced yet; those that expire soonest come first. All are read, since the gateway lists the newest keys first. */
async function readExpiring(): Promise<readonly Key[]> {
  // all pages of a list need the same time, and that of a first page that came with the document is not known here
  const { expires_before } = firstCalls(now()).integrations.expiringKeys;
  let page = await first('expiringKeys');
  if (page.next_cursor !== null) page = await first('expiringKeys', { expires_before });
  const expiring = [...page.data];
  while (page.next_cursor !== null && expiring.length < 1000) {
    page = await first('expiringKeys', { expires_before, cursor: page.next_cursor });
    expiring.push(...page.data);
  }
  return expiring.sort((left, right) => Date.parse(left.expires_at ?? '') - Date.parse(right.expires_at ?? ''));
}

/** Endpoints that fail or were disabled for it, each with the last attempt of the newest event that it did not accept. */
async function readFailing(endpoints: readonly Endpoint[]): Promise<readonly Failing[]> {
  const failing = endpoints.filter(
    ({ state, disabled_reason: why }) => state === 'failing' || (state === 'disabled' && why !== 'by_hand'),
  );
  const withAttempts: Failing[] = [];
  for (const [place, endpoint] of failing.entries()) {
    // of those that are counted only, and not listed, nothing more is read
    const waiting = place < MOST ? await find('deliveries', { webhook_id: endpoint.id, state: 'waiting' }) : undefined;
    // null: it was deleted since the list was read
    if (waiting !== null) withAttempts.push({ endpoint, last: waiting?.data[0]?.log.at(-1) });
  }
  return withAttempts;
}

export function NeedsAttention({ of: { expiring, unused, failing } }: { of: Attention }): JSX.Element | null {
  if (expiring.length + unused.data.length + failing.length === 0) return null;
  const [expire, more] = [expiring.length === 1 ? 'key expires' : 'keys expire', unused.has_more ? 'More than ' : ''];
  return (
    <section class="card attention" aria-labelledby="attention-title">
      <h2 id="attention-title" tabIndex={-1}>
        Needs attention
      </h2>
      <Group
        title={`${expiring.length} ${expire} within ${EXPIRES_WITHIN} days`}
        id="expiring"
        of={expiring}
        most={MOST_EXPIRING}
      >
        {(key) => (
          <li class="heading" key={key.id}>
            <span>
              <KeyLink id={key.id} /> <code>{keyText(key)}</code> expires <Ago at={key.expires_at} />
            </span>
            {mayMake && key.kind === 'key' && (
              <Button label={`Rotate ${shownName(key)}`} does={() => rotateKey(key)}>
                Rotate…
              </Button>
            )}
          </li>
        )}
      </Group>
      <Group
        title={`${more}${unused.data.length} ${unused.data.length === 1 ? 'key was' : 'keys were'} not used for ${UNUSED_FOR} days`}
        id="unused"
        of={unused.data}
        most={MOST}
      >
        {(key) => (
          <li key={key.id}>
            <KeyLink id={key.id} /> <code>{keyText(key)}</code> last used{' '}
            <Ago at={key.last_used_at} otherwise="never" />
          </li>
        )}
      </Group>
      <Group
        title={`${failing.length} webhook ${failing.length === 1 ? 'endpoint fails' : 'endpoints fail'}`}
        id="failing-endpoints"
        of={failing}
        most={MOST}
        all="/settings/webhooks"
      >
        {({ endpoint, last }) => (
          <li key={endpoint.id}>
            <a href={`/settings/webhooks/${endpoint.id}`}>
              <Url of={endpoint.url} />
            </a>{' '}
            <EndpointState of={endpoint} />{' '}
            {last && (
              <>
                {errorText(last)}, <Ago at={last.at} />
              </>
            )}
          </li>
        )}
      </Group>
    </section>
  );
}

interface GroupProps<Item> {
  readonly title: string;
  readonly id: string;
  readonly of: readonly Item[];
  readonly most: number;
  /** Where all are listed. */
  readonly all?: string;
  readonly children: (item: Item) => ComponentChildren;
}

function Group<Item>({ title, id, of: items, most, all = '/settings/keys', children }: GroupProps<Item>) {
  if (items.length === 0) return null;
  return (
    <>
      <h3 id={`${id}-title`}>{title}</h3>
      <ul aria-labelledby={`${id}-title`}>{items.slice(0, most).map(children)}</ul>
      {items.length > most && (
        <p class="hint">
          <a href={all}>See all</a>
        </p>
      )}
    </>
  );
}
