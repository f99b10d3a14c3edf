import { call, newest, settings } from '../api';
import { revokeKey, rotateKey } from '../dialogs';
import { byId, element, showFailure } from '../dom';
import { redraw } from '../modal';
import { requestsIn } from '../requests';
import { entitle, isShown, listAddress, shownId } from '../route';
import { openUsage } from '../usage';
import { editKey } from './edit';
import { openEvents } from './events';
import { nameOf, noteNames, shownName } from './link';
import { factsOf, noticeOf, stateOf } from './words';

/* The page of one key. */

const body = byId('key-body');
const place = byId('key-failure');
const requests = requestsIn(byId('key-requests'));
// an answer about another key than the shown one is dropped
const view = newest();

/** `changed` is called after changes to a key. */
export const keyPage = (changed) => ({
  open(id) {
    close();
    head(nameOf(id) ?? 'API key');
    byId('key-state').replaceChildren();
    return load(changed);
  },
  refresh: () => load(changed),
  close,
});

function close() {
  view.drop();
  body.hidden = true;
  showFailure(place);
  void openUsage(undefined);
  requests.close();
  void openEvents(undefined);
}

function head(name) {
  byId('key-title').textContent = name;
  if (isShown('key')) entitle(name);
}

/** The key, the one that replaced it and the one that it replaced; null if there is none. */
async function read() {
  const key = await call('key', { id: shownId() }).catch(leadBack);
  const [next, { data }] = await Promise.all([
    key.rotated_to === null ? null : call('key', { id: key.rotated_to }),
    call('replacedKeys', { replaced_by: key.id }),
  ]);
  return { key, next, previous: data[0] ?? null };
}

/** From a key that is not there, to those that are. */
function leadBack(failure) {
  if (failure.code === 'not_found') failure.link = { href: listAddress('keys'), text: 'All API keys', isHere: true };
  throw failure;
}

async function load(changed) {
  const found = await view.attempt(read, place, () => load(changed));
  if (!found) {
    if (!place.hidden) body.hidden = true;
    return;
  }
  draw(found, changed);
  const { id } = found.key;
  await Promise.all([openUsage(found.key), requests.open(id), openEvents(id)]);
}

function draw({ key, next, previous }, changed) {
  noteNames([key, ...[next, previous].filter((one) => one !== null)]);
  head(shownName(key));
  byId('key-state').replaceChildren(element('span', { class: `tag ${key.state}` }, key.state), ...stateOf(key));
  const notice = byId('key-notice');
  notice.replaceChildren(...noticeOf(key, next));
  notice.hidden = notice.childNodes.length === 0;
  byId('key-facts').replaceChildren(...factsOf(key, previous));
  body.hidden = false;
  const actions = byId('key-actions');
  if (!actions) return;
  const buttons = actionsOf(key, next, changed);
  redraw(actions, buttons);
  actions.hidden = buttons.length === 0;
}

function actionsOf(key, next, changed) {
  const { hasPlan } = settings;
  const isLive = key.state === 'active';
  const button = (text, does, isThere, more = '') =>
    isThere
      ? [
          element(
            'button',
            {
              ...{ class: `button ${more}`, type: 'button', 'data-focus': text },
              click: () => does(key, changed),
            },
            text,
          ),
        ]
      : [];
  return [
    ...button('Edit', editKey, isLive && hasPlan, 'primary'),
    // what has a working replacement is refused
    ...button('Rotate', rotateKey, isLive && hasPlan && next?.state !== 'active'),
    ...button('Revoke', revokeKey, isLive),
  ];
}
