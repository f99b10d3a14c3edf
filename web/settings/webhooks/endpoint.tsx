import { type JSX, render } from 'preact';
import { call, Failure, failureOf, settings } from '../api';
import { close as closeDialog } from '../dialog';
import { Reading } from '../list';
import { Menu } from '../menu';
import { tell } from '../notices';
import { Ago, Button, Chips, type FactList, Facts, Heading, KeepsFocus, Problem } from '../parts';
import {
  besideId,
  entitle,
  go,
  isShown,
  listAddress,
  notFound,
  type PageOf,
  placeOf,
  readdress,
  shownId,
} from '../route';
import { exact } from '../time';
import { deleteEndpoint, disableEndpoint, enableEndpoint, rotateSecret } from './changes';
import { Deliveries } from './deliveries';
import { editEndpoint } from './edit';
import { lost } from './list';
import { maySend } from './resending';
import { EndpointStatistics } from './statistics';
import { Why } from './why';
import {
  type Attempt,
  type Endpoint,
  EndpointState,
  OldestUndelivered,
  OutcomeBox,
  StateNote,
  Types,
  Url,
} from './words';

/* The page of one endpoint. */

/** When to look again after a change, each in milliseconds after the one before. */
const FOLLOWED_AFTER = [2000, 3000, 5000, 10_000, 20_000];
const AGAIN = { disabled: 'Enable', failing: 'Retry', enabled: 'Send events again' };

/** `onChange` is called after changes. */
export function endpointPage(onChange: () => void): PageOf {
  const place = placeOf('endpoint');
  const reading = new Reading<Endpoint>(
    async () => {
      const endpoint = await read();
      if (endpoint) return endpoint;
      throw notFound('This endpoint does not exist. It may have been deleted.', 'webhooks', 'All webhooks');
    },
    draw,
    load,
  );
  const statistics = new EndpointStatistics(draw);
  const deliveries = new Deliveries({ draw, refresh: load, accepted, missing: () => void checkGone(shownId()) });
  /** Outcome of the last test event. */
  let outcome: Attempt | Failure | undefined;
  let isSending = false;
  /** Whether the endpoint accepted something sent manually. */
  let hasAccepted = false;
  let turn = 0;
  let following = 0;

  /** Reads the shown endpoint; null if it no longer exists. */
  async function read(): Promise<Endpoint | null> {
    const { data } = await call('endpoints');
    return data.find(({ id }) => id === shownId()) ?? null;
  }

  /** Resolves with whether everything was read. */
  async function load(): Promise<boolean> {
    const before = reading.value;
    const isRead = await reading.load();
    const { value, failure } = reading;
    if (failure?.code === 'not_found' && before?.id === shownId()) gone(before);
    if (!isRead || !value) return false;
    const all = await Promise.all([statistics.show(value.id), deliveries.show(value)]);
    return all.every(Boolean);
  }

  /** Shows what the address says: an endpoint, and maybe one of its deliveries beside it. */
  function open(id: string): Promise<boolean> {
    const delivery = besideId();
    if (delivery !== '') {
      readdress(`/settings/webhooks/${id}${location.search}`);
      deliveries.open(id, delivery);
    }
    return load();
  }

  function close(): void {
    turn += 1;
    outcome = undefined;
    isSending = false;
    hasAccepted = false;
    reading.clear();
    void statistics.show(undefined);
    void deliveries.show(undefined);
  }

  /** Says that an endpoint was deleted elsewhere. */
  function gone({ id, url }: Endpoint): void {
    deleted(id);
    tell('page', { text: `The endpoint ${url} was deleted meanwhile, by somebody else or in another tab.` });
  }

  /** Leaves the page if a refusal means that the endpoint was deleted. */
  async function checkGone(id: string): Promise<void> {
    const { value } = reading;
    const now = await read().catch(() => undefined);
    if (value && now === null && shownId() === id) gone(value);
  }

  /** Leads back to the list, unless the page was left before the answer came. */
  function deleted(id: string): void {
    onChange();
    if (shownId() !== id) return;
    closeDialog();
    go(listAddress('webhooks'));
  }

  function changed(id: string): void {
    onChange();
    if (shownId() !== id) return;
    void load();
    void follow(id);
  }

  /** Shows what becomes of a change, since the gateway goes on by itself: it sends what waits, and the endpoint may no longer fail. */
  async function follow(id: string): Promise<void> {
    const ownFollowing = (following += 1);
    for (const pause of FOLLOWED_AFTER) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      // another change is followed, or another endpoint shown
      if (ownFollowing !== following || shownId() !== id) return;
      const [before, next] = [reading.value, await read().catch(() => undefined)];
      if (!next || !before || shownId() !== id) return;
      if (next.state === before.state && next.waiting === before.waiting) continue;
      void load();
      onChange();
    }
  }

  /** A manual delivery that is accepted does not change the endpoint's state. */
  function accepted(): void {
    hasAccepted = true;
    draw();
  }

  async function sendTest({ id }: Endpoint): Promise<void> {
    if (isSending) return;
    const ownTurn = (turn += 1);
    outcome = undefined;
    isSending = true;
    draw();
    const done = await call('testEndpoint', { webhook_id: id }).catch(failureOf);
    // by now another endpoint is shown
    if (ownTurn !== turn) return;
    outcome = done;
    isSending = false;
    if (!(done instanceof Failure)) hasAccepted ||= done.ok;
    else if (done.code === 'not_found') void checkGone(id);
    draw();
  }

  function actionsOf(endpoint: Endpoint): JSX.Element {
    const { hasPlan } = settings;
    const { state, id } = endpoint;
    const after = { changed: () => changed(id), gone: () => gone(endpoint) };
    const rotated = (): void => {
      lost.delete(id);
      changed(id);
    };
    const again = (): void => enableEndpoint(endpoint, after);
    const items = [
      { text: 'Edit…', does: () => editEndpoint(endpoint, after), isOffered: true },
      {
        text: 'Rotate secret…',
        does: () => rotateSecret(endpoint, { ...after, read, changed: rotated }),
        isOffered: maySend,
      },
      { text: `${AGAIN.enabled}…`, does: again, isOffered: hasPlan && state === 'enabled' },
      {
        text: 'Disable…',
        does: () => disableEndpoint(endpoint, after),
        isOffered: state !== 'disabled',
        isDangerous: true,
      },
      { text: 'Delete…', does: () => deleteEndpoint(endpoint, () => deleted(id)), isOffered: true, isDangerous: true },
    ];
    return (
      <p class="buttons">
        {hasPlan && state !== 'enabled' && (
          <Button class="primary" does={again}>
            {AGAIN[state]}
          </Button>
        )}
        {maySend && (
          <Button isBusy={isSending} does={() => sendTest(endpoint)}>
            Send test event
          </Button>
        )}
        <Menu label="More actions" items={items.filter(({ isOffered }) => isOffered)} />
      </p>
    );
  }

  function draw(): void {
    const { value: endpoint, failure } = reading;
    if (endpoint && isShown('endpoint')) entitle(endpoint.url);
    render(
      <KeepsFocus>
        <p class="crumbs">
          <a href={listAddress('webhooks')}>Webhooks</a>
        </p>
        <Heading id="endpoint-title" title={endpoint ? <Url of={endpoint.url} /> : 'Webhook endpoint'}>
          {endpoint && <EndpointState of={endpoint} />}
        </Heading>
        <Problem failure={failure} again={reading.again} />
        {endpoint && failure?.code !== 'not_found' && (
          <>
            <Why of={endpoint} hasAccepted={hasAccepted} last={deliveries.lastFailure} isLost={lost.has(endpoint.id)} />
            {settings.mayChange && actionsOf(endpoint)}
            <div role="status">
              {isSending && <p class="hint">Sending a test event…</p>}
              <OutcomeBox what="Test event" of={outcome} again={() => sendTest(endpoint)} />
            </div>
            <Facts of={factsOf(endpoint)} />
            {statistics.view()}
            {deliveries.view(endpoint)}
          </>
        )}
      </KeepsFocus>,
      place,
    );
  }

  draw();
  return { open, refresh: load, close };
}

function factsOf(endpoint: Endpoint): FactList {
  const {
    types,
    customer_ids: customers,
    old_secret_until: until,
    last_success_at: last,
    created_at: created,
    created_by: by,
  } = endpoint;
  const secret =
    until === null ? 'shown once, when it was created' : `rotated; the old one also signs until ${exact(until)}`;
  return [
    ['Events', <Types of={types} />],
    ['Customers', customers === null ? 'all' : <Chips of={customers} />],
    ...(endpoint.failing_since === null && endpoint.state !== 'disabled'
      ? []
      : ([['State', [`${endpoint.state}: `, <StateNote key="note" of={endpoint} />]]] as const)),
    ['Oldest undelivered', <OldestUndelivered of={endpoint} />],
    ['Last accepted', <Ago at={last} otherwise="never" />],
    ['Signing secret', secret],
    ['Added', [<Ago key="at" at={created} />, ` by ${by}`]],
  ];
}
