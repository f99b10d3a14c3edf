import { byId, showFailure } from './dom';

/*
 * Which page of the settings is shown: the sections of one document, one at a time, by its address. What is chosen on a page is in the
 * address too, so that it outlives a reload, can be passed on, and is there again after Back.
 */

const PAGE = /^\/settings\/(integrations|keys|webhooks|requests|members|audit)(?:\/([0-9a-f-]{36}))?$/i;
/** The page of one of a list. */
const ONE = { keys: 'key', webhooks: 'endpoint' };
/** The last address of each page. */
const addresses = new Map();
const { title } = document;
let pages = {};
let shown;

/** The page that an address names: {name, id}. */
function named(address) {
  const [, list, id] = PAGE.exec(new URL(address).pathname) ?? [];
  return id === undefined ? { name: list ?? 'integrations' } : { name: ONE[list], id: id.toLowerCase() };
}

/** @returns {HTMLElement} */
export const placeOf = (name) => document.querySelector(`[data-page="${name}"]`);
/** The list that was left for the page of a key or an endpoint, as it was; its address outlives a reload. */
export const listAddress = (list) => history.state?.list ?? `/settings/${list}`;
/** The id in the address of the shown page. */
export const shownId = () => shown?.id;
export const isShown = (name) => shown?.name === name;
export const headingOf = (name) => placeOf(name).querySelector('h1');

/** Names the shown page in its heading and in the window's title. */
export function entitle(text) {
  document.title = `${text} · ${title}`;
}

/**
 * Shows pages by their addresses from now on. Each of `all` has `open(id)`, which reads what the address says, and may have `close()`, which clears it. After Back,
 * what is there as it was left is not read again.
 */
export function followAddress(all) {
  pages = all;
  addEventListener('popstate', () => follow(true));
  document.addEventListener('click', followLink);
  follow(false);
}

/** Goes to another page. */
export function go(address) {
  history.pushState({ list: shown.name in ONE ? location.href : history.state?.list }, '', address);
  follow(false);
}

/** Reads a page again, now or when it is shown next. */
export function refresh(...names) {
  for (const name of names) {
    if (isShown(name)) void pages[name].refresh();
    else addresses.delete(name);
  }
}

function followLink(event) {
  const link = event.target.closest('a[href]');
  if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  if (link.target || link.origin !== location.origin || !PAGE.test(link.pathname)) return;
  event.preventDefault();
  go(link.href);
}

function follow(isBack) {
  const next = named(location.href);
  const before = shown;
  const isSame = next.name === before?.name && next.id === before.id;
  // an entry of a dialog
  if (isBack && isSame && addresses.get(next.name) === location.href) return;
  shown = next;
  if (before && !isSame) {
    placeOf(before.name).hidden = true;
    const { close } = pages[before.name];
    if (close) addresses.delete(before.name);
    close?.();
  }
  const list = next.id === undefined ? next.name : Object.keys(ONE).find((one) => ONE[one] === next.name);
  document.querySelector('.side [aria-current]')?.removeAttribute('aria-current');
  document.querySelector(`.side a[href="/settings/${list}"]`).setAttribute('aria-current', 'page');
  if (!isSame) showFailure(byId('failure'));
  const place = placeOf(next.name);
  place.hidden = false;
  entitle(headingOf(next.name).textContent);
  if (next.id !== undefined) place.querySelector('.crumbs a').href = listAddress(list);
  const isThere = isBack && addresses.get(next.name) === location.href;
  addresses.set(next.name, location.href);
  const heading = headingOf(next.name);
  if (before && !isSame) {
    heading.focus({ preventScroll: isBack });
    if (!isBack) scrollTo(0, 0);
  }
  const opening = isThere ? undefined : pages[next.name].open(next.id);
  if (before?.id !== undefined) void focusRow(heading, before.id, opening);
}

/** Gives the focus of a list's heading to the row of the page that was left, once it is there. */
async function focusRow(heading, id, opening) {
  await opening;
  if (document.activeElement === heading) {
    heading.closest('[data-page]').querySelector(`a[href$="/${id}"]`)?.focus({ preventScroll: true });
  }
}

/** The value of a parameter of the address; null if it has none. */
export function chosen(name) {
  return new URL(location.href).searchParams.get(name);
}

/** Changes parameters; null removes one. The history has no entry for it. */
export function choose(changes) {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  if (url.href !== location.href) history.replaceState(history.state, '', url);
  if (shown) addresses.set(shown.name, location.href);
}
