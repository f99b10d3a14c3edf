import { call, newest, settings } from '../api';
import { byId, element, say, showFailure } from '../dom';
import { redraw } from '../modal';
import { entitle, go, isShown, listAddress, shownId } from '../route';
import { ago, exact } from '../time';
import { deleteEndpoint, disableEndpoint, enableEndpoint, rotateSecret } from './changes';
import { openDeliveries } from './deliveries';
import { editEndpoint } from './edit';
import { lost } from './list';
import { outcomeBox } from './outcome';
import { behind, noticeOf, stateNote, typeList, urlParts } from './words';

/* The page of one endpoint. */

const body = byId('endpoint-body');
const place = byId('endpoint-failure');
const result = byId('endpoint-outcome');
// answers that come after another endpoint was opened are dropped
const view = newest();
// a test event is sent only when it is asked for
const tests = newest({ isRead: false });
let isTesting = false;
/** Whether the shown endpoint accepted something that was sent by hand. */
let hasAccepted = false;
let onChange = () => undefined;

/** `changed` is called after changes. */
export function endpointPage(changed) {
  onChange = changed;
  return {
    open() {
      close();
      const title = byId('endpoint-title');
      title.textContent = 'Webhook endpoint';
      byId('endpoint-state').textContent = '';
      return load();
    },
    refresh: load,
    close() {
      close();
      void openDeliveries(undefined);
    },
  };
}

function close() {
  view.drop();
  tests.drop();
  isTesting = false;
  hasAccepted = false;
  body.hidden = true;
  showFailure(place);
  result.replaceChildren();
}

/** The endpoint as it is now; null if there is none. */
async function read() {
  const { data } = await call('endpoints');
  return data.find(({ id }) => id === shownId()) ?? null;
}

async function load() {
  const endpoint = await view.attempt(read, place, load);
  if (endpoint === undefined) return;
  if (endpoint === null && !body.hidden) {
    gone();
    return;
  }
  body.hidden = endpoint === null;
  if (endpoint === null) {
    showFailure(place, { message: 'This endpoint does not exist. It may have been deleted.' });
    return;
  }
  showFailure(place);
  draw(endpoint);
  await openDeliveries(endpoint, { accepted: () => noteAccepted(endpoint), missing: () => checkGone(endpoint.id) });
}

/** Goes back to the list, since the shown endpoint was deleted elsewhere. */
function gone() {
  const message = `The endpoint ${byId('endpoint-title').textContent} was deleted meanwhile, by somebody else or in another tab.`;
  deleted();
  showFailure(byId('failure'), { message });
}

/** What may have been refused since the endpoint is gone. */
async function checkGone(id) {
  const found = await read().catch(() => undefined);
  if (found === null && shownId() === id) gone();
}

function changed() {
  void load();
  onChange();
}

function draw(endpoint) {
  const { id, url, state } = endpoint;
  byId('endpoint-title').replaceChildren(...urlParts(url));
  if (isShown('endpoint')) entitle(url);
  const tag = byId('endpoint-state');
  tag.textContent = state;
  tag.className = `tag ${state}`;
  drawNotice(endpoint);
  byId('endpoint-facts').replaceChildren(...factsOf(endpoint));
  const actions = byId('endpoint-actions');
  if (actions) redraw(actions, actionsOf(endpoint));
}

function drawNotice({ id, state, ...rest }) {
  const notice = byId('endpoint-notice');
  const text = lost.has(id) ? LOST : noticeOf({ state, hasAccepted, ...rest });
  notice.textContent = text ?? '';
  notice.hidden = text === undefined;
  notice.className = state === 'enabled' && !lost.has(id) ? 'info' : 'alert';
}

/** Says what an accepted delivery by hand means for the endpoint. */
function noteAccepted(endpoint) {
  hasAccepted = true;
  drawNotice(endpoint);
}

const LOST =
  'This endpoint was added, but the answer with its secret was lost on its way. Rotate its secret to get one that you can save, or delete it.';

function factsOf(endpoint) {
  const { types, old_secret_until: until, last_success_at: last, created_at: made, created_by: by } = endpoint;
  const note = stateNote(endpoint);
  const secret =
    until === null ? 'shown once, when it was made' : `rotated; the one before signs too until ${exact(until)}`;
  return [
    ['Events', [typeList(types)]],
    ...(note.length > 0 ? [['State', [`${endpoint.state}: `, ...note]]] : []),
    ['Behind', behind(endpoint)],
    ['Last accepted', [ago(last, 'never')]],
    ['Signing secret', [secret]],
    ['Added', [ago(made, ''), ` by ${by}`]],
  ].map(([name, parts]) => element('div', {}, element('dt', {}, name), element('dd', {}, ...parts)));
}

function actionsOf(endpoint) {
  const { state } = endpoint;
  const after = { changed, gone };
  const button = (text, click, isThere = true, more = {}) =>
    isThere ? [element('button', { class: 'button', type: 'button', 'data-focus': text, click, ...more }, text)] : [];
  const { hasPlan, canMakeWebhooks: canSign } = settings;
  const again = { disabled: 'Enable', failing: 'Try again', enabled: 'Send events again' }[state];
  return [
    ...button('Send test event', () => sendTest(endpoint), canSign, {
      class: 'button primary',
      id: 'send-test',
      'aria-disabled': String(isTesting),
    }),
    ...button('Edit', () => editEndpoint(endpoint, after)),
    ...button(
      'Rotate secret',
      () =>
        rotateSecret(endpoint, {
          read,
          gone,
          changed() {
            lost.delete(endpoint.id);
            changed();
          },
        }),
      hasPlan && canSign,
    ),
    ...button(again, () => enableEndpoint(endpoint, after), hasPlan),
    ...button('Disable', () => disableEndpoint(endpoint, after), state !== 'disabled'),
    ...button('Delete', () => deleteEndpoint(endpoint, deleted)),
  ];
}

function deleted() {
  onChange();
  go(listAddress('webhooks'));
}

async function sendTest(endpoint) {
  if (isTesting) return;
  const { id } = endpoint;
  setTesting(true);
  result.replaceChildren(element('p', { class: 'hint' }, 'Sending a test event…'));
  const failure = element('p', { class: 'alert', hidden: true });
  const done = await tests.attempt(
    () => post(id),
    failure,
    () => sendTest(endpoint),
  );
  // another endpoint is shown by now
  if (shownId() !== id) return;
  setTesting(false);
  result.replaceChildren(done ? outcomeBox('Test event', done) : failure);
  if (done?.ok) noteAccepted(endpoint);
}

async function post(id) {
  try {
    return await call('testEndpoint', { id });
  } catch (error) {
    if (error.code === 'not_found') void checkGone(id);
    throw error;
  }
}

function setTesting(value) {
  isTesting = value;
  byId('send-test')?.setAttribute('aria-disabled', String(value));
}

// a disabled button would lose the focus
byId('refresh-endpoint').addEventListener('click', async ({ currentTarget: button }) => {
  if (button.ariaDisabled === 'true') return;
  button.ariaDisabled = 'true';
  await load();
  button.ariaDisabled = 'false';
  say('Refreshed.');
});
