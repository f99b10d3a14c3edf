import { chosen } from '../address.js';
import { call, newest, settings } from '../api.js';
import { revokeKey, rotateKey } from '../dialogs.js';
import { byId, element, showFailure } from '../dom.js';
import { redraw } from '../modal.js';
import { REQUEST_CHOICES, requestList } from '../requests.js';
import { openUsage } from '../usage.js';
import { editKey } from './edit.js';
import { openEvents } from './events.js';
import { nameOf, noteNames, shownName } from './link.js';
import { factsOf, noticeOf, stateOf } from './words.js';

/* The page of one key, in place of the lists: its address has ?key=ID. */

const page = byId('key-page');
const body = byId('key-body');
const place = byId('key-failure');
const leaving = byId('leave-key');
const requests = requestList(byId('key-requests'));
// an answer about another key than the shown one is dropped
const view = newest();
const { title } = document;
let shown;
let after = { changed: () => undefined, listed: () => undefined };

/**
 * Shows what the address names, now and whenever it changes. `changed` is called after changes to a key, `listed(areShown)` when the lists are shown,
 * at first or again, and when they are left.
 */
export function followKeys(then) {
  after = then;
  addEventListener('popstate', follow);
  // after the page of an endpoint, which shows the lists when it is left
  addEventListener('hashchange', follow);
  document.addEventListener('click', followLink);
  if (named() === undefined) after.listed(true);
  follow();
}

/** Opens the page of a key. */
export function openKey({ id }) {
  const lists = shown === undefined ? location.href : leaving.href;
  go(addressOf(id));
  leaving.href = lists;
}

/** Reads the shown key again, if one is shown. */
export function reloadKey() {
  if (shown !== undefined) void load();
}

/** The key that the address names; undefined if none, or the page of a webhook endpoint. */
function named() {
  const id = chosen('key');
  const isKey = id !== null && /^[0-9a-f-]{36}$/i.test(id) && !location.hash.startsWith('#webhook/');
  return isKey ? id.toLowerCase() : undefined;
}

/** The present address with another key, or none; what is chosen of requests is of one list. */
function addressOf(id) {
  const url = new URL(location.href);
  url.hash = '';
  for (const name of ['key', ...REQUEST_CHOICES]) url.searchParams.delete(name);
  if (id !== undefined) url.searchParams.set('key', id);
  return url;
}

function go(address) {
  history.pushState(null, '', address);
  follow();
}

function followLink(event) {
  const link = event.target.closest('a[data-key], #leave-key');
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  if (link === leaving) go(link.href);
  else openKey({ id: link.dataset.key });
}

function follow() {
  const id = named();
  const isOpen = id !== undefined;
  if (isOpen) for (const name of ['overview', 'lists']) byId(name).hidden = true;
  if (id === shown) return;
  const before = shown;
  shown = id;
  close();
  page.hidden = !isOpen;
  if (isOpen) open(before === undefined);
  else leave(before);
}

function close() {
  view.drop();
  body.hidden = true;
  showFailure(place);
  showFailure(byId('failure'));
  void openUsage(undefined);
  requests.close();
  void openEvents(undefined);
}

function leave(before) {
  document.title = title;
  after.listed(true);
  // the page of an endpoint shows itself
  if (location.hash.startsWith('#webhook/')) return;
  for (const name of ['overview', 'lists']) byId(name).hidden = false;
  (document.querySelector(`#keys a[data-key="${before}"]`) ?? byId('keys-title')).focus();
}

function open(isFirst) {
  if (isFirst) after.listed(false);
  leaving.href = addressOf(undefined);
  head(nameOf(shown) ?? 'API key');
  byId('key-state').replaceChildren();
  scrollTo(0, 0);
  byId('key-title').focus();
  void load();
}

function head(name) {
  byId('key-title').textContent = name;
  document.title = `${name} · ${title}`;
}

/** The key, the one that replaced it and the one that it replaced; null if there is none. */
async function read() {
  const key = await call('key', { id: shown }).catch(leadBack);
  const [next, { data }] = await Promise.all([
    key.rotated_to === null ? null : call('key', { id: key.rotated_to }),
    call('replacedKeys', { replaced_by: key.id }),
  ]);
  return { key, next, previous: data[0] ?? null };
}

/** From a key that is not there, to those that are. */
function leadBack(failure) {
  if (failure.code === 'not_found') failure.link = { href: leaving.href, text: 'All API keys', isHere: true };
  throw failure;
}

async function load() {
  const found = await view.attempt(read, place, load);
  if (!found) {
    if (!place.hidden) body.hidden = true;
    return;
  }
  draw(found);
  const { id } = found.key;
  await Promise.all([openUsage(found.key), requests.open(id), openEvents(id)]);
}

function draw({ key, next, previous }) {
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
  const buttons = actionsOf(key, next);
  redraw(actions, buttons);
  actions.hidden = buttons.length === 0;
}

function actionsOf(key, next) {
  const { hasPlan } = settings;
  const isLive = key.state === 'active';
  const button = (text, does, isThere, more = '') =>
    isThere
      ? [
          element(
            'button',
            {
              ...{ class: `button ${more}`, type: 'button', 'data-focus': text },
              click: () => does(key, after.changed),
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
