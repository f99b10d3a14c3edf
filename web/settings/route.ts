import { addressOf, ofShownData, ROOT } from './addresses';
import { Failure } from './api';
import { close } from './dialog';
import { type PageName, SETTINGS_PAGES } from '../../src/settings/documents';
import { tell } from './notices';

/*
 * Decides by the address which page of the settings is shown: each page is a section of one document. What is chosen on a page is in
 * the address too, so that it outlives a reload, can be shared, and is there again after Back.
 */

export interface PageOf {
  /** Reads what the address says; `id` is that of the key or endpoint, or of what is shown beside a list, or empty. */
  readonly open: (id: string) => Promise<unknown>;
  readonly refresh: () => Promise<unknown>;
  /** Clears it. */
  readonly close?: () => void;
}
type Name = PageName | 'key' | 'endpoint';
interface Shown {
  readonly name: Name;
  readonly id?: string | undefined;
  /** Id of what is shown beside the list, or of the delivery that is shown beside an endpoint. */
  readonly beside?: string | undefined;
}

const PAGE = new RegExp(
  `^${ROOT}/(${SETTINGS_PAGES.join('|')})(?:/([0-9a-f-]{36})(?:/deliveries/([0-9a-f.-]{1,100}))?)?$`,
  'i',
);
/** The page of one key or endpoint. */
const ONE: Readonly<Record<string, Name>> = { keys: 'key', webhooks: 'endpoint' };
const LISTS: Readonly<Partial<Record<Name, Name>>> = { key: 'keys', endpoint: 'webhooks' };
/** Lists that show one of theirs beside them, at an address of its own. */
const BESIDE: readonly string[] = ['requests'];
/** The last address of each page. */
const addresses = new Map<Name, string>();
const { title } = document;
let pages: Readonly<Partial<Record<Name, PageOf>>> = {};
let shown: Shown | undefined;

/** The page that an address names. */
function named(address: string): Shown {
  const [, list = 'integrations', id, delivery] = PAGE.exec(new URL(address).pathname) ?? [];
  if (id === undefined) return { name: list as Name };
  if (BESIDE.includes(list)) return { name: list as Name, beside: id.toLowerCase() };
  return { name: ONE[list] ?? 'integrations', id: id.toLowerCase(), beside: delivery?.toLowerCase() };
}

/** @throws Error if there is no such page */
export function placeOf(name: string): HTMLElement {
  const place = document.querySelector<HTMLElement>(`[data-page="${name}"]`);
  if (!place) throw new Error(`no page ${name}`);
  return place;
}
const listLeft = (): string | undefined => (history.state as { list?: string } | null)?.list;
/** The address of a list: with its filters, if it led to the page of a key or endpoint; they survive a reload. */
export function listAddress(list: string): string {
  const left = listLeft();
  return left !== undefined && named(left).name === list ? left : `/settings/${list}`;
}

/** Says that something does not exist, where it may be instead, and how to get there and back to the list. */
export function notFound(text: string, list: string, others: string, href = listAddress(list)): Failure {
  const link = { href, text: others, isHere: true };
  const failure = new Failure(text, { code: 'not_found', link });
  // it leads to this address in the other mode, since nothing is found here (mode.js)
  const other = document.querySelector<HTMLButtonElement>('.mode [aria-pressed="false"]');
  const where = { Live: 'live data', Sandbox: 'the sandbox' }[other?.textContent.trim() ?? ''];
  if (!other || where === undefined) return failure;
  failure.message += ` It may be in ${where}.`;
  failure.button = { text: `Switch to ${where}`, does: () => other.click() };
  return failure;
}

/** The id in the address of the shown page. */
export const shownId = (): string => shown?.id ?? '';
export const besideId = (): string => shown?.beside ?? '';
export const isShown = (name: string): boolean => shown?.name === name;
const headingOf = (name: string): HTMLElement | null => placeOf(name).querySelector('h1');

/** Names the shown page in the window's title. */
export function entitle(text: string): void {
  document.title = `${text} · ${title}`;
}

/** Starts showing the page that the address names. A page that Back returns to is not read again if it is still as it was left. */
export function followAddress(all: Readonly<Record<Name, PageOf>>): void {
  pages = all;
  addEventListener('popstate', () => follow(true));
  document.addEventListener('click', followLink);
  // a live address shows the sandbox to whoever is in it
  history.replaceState(history.state, '', ofShownData(location.pathname) + location.search + location.hash);
  follow(false);
}

/** Goes to another page. */
export function go(address: string): void {
  const isList = shown !== undefined && shown.name in ONE;
  history.pushState({ list: isList ? location.href : listLeft() }, '', addressOf(address));
  follow(false);
}

/** Reads a page again, now or when it is shown next. */
export function refresh(...names: Name[]): void {
  for (const name of names) {
    if (isShown(name)) void pages[name]?.refresh();
    else addresses.delete(name);
  }
}

/** Whether a click is one that follows a link in the same tab. */
export const isPlain = ({ button, ctrlKey, metaKey, shiftKey, altKey }: MouseEvent): boolean =>
  button === 0 && !ctrlKey && !metaKey && !shiftKey && !altKey;

function followLink(event: MouseEvent): void {
  const link = (event.target as Element).closest<HTMLAnchorElement>('a[href]');
  if (!link || event.defaultPrevented || !isPlain(event)) return;
  const pathname = ofShownData(link.pathname);
  if (link.target || link.origin !== location.origin || !PAGE.test(pathname)) return;
  event.preventDefault();
  // “Skip to content”; followed by the browser, it would have an entry in the history, without the list that led here
  if (link.hash !== '' && link.pathname === location.pathname && link.search === location.search) {
    document.getElementById(link.hash.slice(1))?.focus();
    return;
  }
  // a link in a dialog leads away from it, unless what it shows would be lost
  if (link.closest('dialog:not([data-kept="true"])')) close();
  go(link.origin + pathname + link.search + link.hash);
}

function follow(isBack: boolean): void {
  const next = named(location.href);
  const before = shown;
  const isSame = next.name === before?.name && next.id === before.id;
  // a history entry of a dialog
  if (isBack && isSame && addresses.get(next.name) === location.href) return;
  shown = next;
  if (before && !isSame) {
    placeOf(before.name).hidden = true;
    const { close } = pages[before.name] ?? {};
    if (close) addresses.delete(before.name);
    close?.();
  }
  document.querySelector('.side [aria-current]')?.removeAttribute('aria-current');
  const list = LISTS[next.name] ?? next.name;
  document.querySelector(`.side a[href$="/${list}"]`)?.setAttribute('aria-current', 'page');
  if (!isSame) tell('page');
  document.querySelector<HTMLElement>('.side:popover-open')?.hidePopover();
  placeOf(next.name).hidden = false;
  const heading = headingOf(next.name);
  entitle(heading?.textContent ?? '');
  const isRestored = isBack && addresses.get(next.name) === location.href;
  addresses.set(next.name, location.href);
  if (before && !isSame) {
    heading?.focus({ preventScroll: isBack });
    if (!isBack) scrollTo(0, 0);
  }
  const opening = isRestored ? undefined : pages[next.name]?.open(next.id ?? next.beside ?? '');
  if (before?.id !== undefined && LISTS[before.name] === next.name && heading)
    void focusRow(heading, before.id, opening);
}

/** Moves the focus from a list's heading to the row whose page was left, once that row is drawn. */
async function focusRow(heading: HTMLElement, id: string, opening: Promise<unknown> | undefined): Promise<void> {
  await opening;
  if (document.activeElement !== heading) return;
  heading.closest('[data-page]')?.querySelector<HTMLElement>(`a[href$="/${id}"]`)?.focus({ preventScroll: true });
}

/** The value of a parameter of the address; null if it has none. */
export function chosen(name: string): string | null {
  return new URL(location.href).searchParams.get(name);
}

/** Changes parameters; null removes one. The history has no entry for it. */
export function choose(changes: Readonly<Record<string, string | null>>): void {
  const url = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) url.searchParams.delete(name);
    else url.searchParams.set(name, value);
  }
  readdress(url.href);
}

/** Says at which address the shown page is once its dialog is closed, whose entry in the history keeps its own. */
export function returnTo(address: string): void {
  if (shown) addresses.set(shown.name, address);
}

/** Gives the shown page another address. The history has no entry for it. */
export function readdress(address: string): void {
  const url = addressOf(address);
  if (url !== location.href) history.replaceState(history.state, '', url);
  if (shown) addresses.set(shown.name, location.href);
}
