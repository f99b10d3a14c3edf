/*
 * The API key that the visitor typed, for the reference and the explorer: in session storage, so for this tab only, and never in a
 * URL. The form is the one of src/pages/page.ts.
 */

import { at } from './base';
import { unwrapped } from './keyText';
import { store, stored } from './storage';

const PLACE = 'scopegate:key';
/** How long the gateway may take to check a key, in milliseconds: requests wait for that. */
const WITHIN = 5000;
/** The header of what a page asks by itself: it is no traffic of the key's organisation (src/gateway/recording.ts). */
export const OF_PAGE = { 'Scopegate-Purpose': 'page' };
const { key: demoKey } = JSON.parse(document.getElementById('settings').textContent);
const changes = new EventTarget();

/**
 * The key and its scopes; scopes are undefined until the gateway has named them.
 * @type {{ key?: string, scopes?: readonly string[] }}
 */
let current = { key: undefined, scopes: undefined };
let looked = Promise.resolve();
let asked = 0;

/** The key and its scopes, once the gateway has checked it. */
export async function knownKey() {
  await looked;
  return current;
}

/** Calls `listener` with the key and its scopes, now and after each change; returns a function that stops it. */
export function onKey(listener) {
  const tell = () => listener(current);
  changes.addEventListener('change', tell);
  tell();
  return () => changes.removeEventListener('change', tell);
}

/** Takes a key that the visitor typed, unless the gateway refuses it. */
export function takeKey(text) {
  const key = unwrapped(text);
  if (key === '' || key === current.key) return looked;
  looked = look(key);
  return looked;
}

let waiting;

/** Focuses the form for a visitor without a key; resolves with whether a key was entered before the next call. */
export function askForKey() {
  waiting?.(false);
  say('Enter your API key to send the request.');
  field.focus();
  return new Promise((resolve) => (waiting = resolve));
}

/**
 * The headers of a request, with the visitor's key in place of what the page opened with: the demo's key, or a placeholder, which has an
 * ellipsis, as no header can. Without a key that is left out and `isMissing` is true. `typed` is what the visitor wrote instead.
 */
export function fillKey(given = {}) {
  const [name, value] = Object.entries(given).find(([one]) => one.toLowerCase() === 'authorization') ?? [];
  if (name === undefined) return { headers: given, isMissing: false };
  // JSON, which may be no text
  const typed = String(value);
  if (!typed.includes('…') && typed !== `Bearer ${demoKey}`) return { headers: given, isMissing: false, typed };
  const { [name]: _placeholder, ...headers } = given;
  if (current.key) return { headers: { ...headers, Authorization: `Bearer ${current.key}` }, isMissing: false };
  return { headers, isMissing: true };
}

function forget() {
  asked += 1;
  store('sessionStorage', PLACE, '');
  show({ key: undefined, scopes: undefined }, '');
}

/** `isOffered`: nobody typed the key in this page, so one that the visitor has begun to type takes precedence. */
async function look(key, isOffered = false) {
  asked += 1;
  const mine = asked;
  // what a header cannot contain
  if (!/^[\x21-\x7e]+$/.test(key)) {
    say('A key consists of letters, digits and underscores.');
    return;
  }
  let answer;
  let body;
  try {
    answer = await fetch(at('/api/v1/me'), {
      credentials: 'omit',
      headers: { ...OF_PAGE, Authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(WITHIN),
    });
    body = await answer.json();
  } catch {
    // late, cut off, or a proxy's page: kept below, since whether it is valid is not known
  }
  // another key was typed meanwhile, or this one forgotten
  if (mine !== asked || (isOffered && field.value !== '')) return;
  if (answer?.status === 401) {
    const typed = field.value;
    forget();
    // often one character is wrong
    field.value = typed;
    if (document.activeElement === field) field.select();
    say('The gateway refuses this key: it is mistyped, expired, revoked, or not allowed from your address.');
    return;
  }
  // the demo's key is the page's own, and comes back in a new tab
  store('sessionStorage', PLACE, key === demoKey ? undefined : key);
  const { key: about, organisation, title = 'The gateway cannot be reached' } = body ?? {};
  if (about && organisation)
    show({ key, scopes: about.scopes }, `${about.prefix}… · ${about.name}, ${organisation.name}`);
  else show({ key, scopes: undefined }, `${key.slice(0, 13)}… · ${title}`);
}

const form = document.getElementById('key');
const field = form.elements.namedItem('typed');
const [asking, known] = form.querySelectorAll('.key-part');
const note = form.querySelector('[role=status]');

function show(next, words) {
  const isFocused = form.contains(document.activeElement);
  current = next;
  asking.hidden = next.key !== undefined;
  known.hidden = next.key === undefined;
  known.querySelector('output').textContent = words;
  field.value = '';
  say('');
  // the button that was pressed is gone
  if (isFocused) (next.key === undefined ? field : known.querySelector('button')).focus();
  changes.dispatchEvent(new Event('change'));
  if (next.key === undefined) return;
  waiting?.(true);
  waiting = undefined;
}

function say(words) {
  note.textContent = words;
}

form.querySelector('[type=submit]').disabled = false;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void takeKey(field.value);
});
known.querySelector('button').addEventListener('click', forget);
looked = (async () => {
  const offered = stored('sessionStorage', PLACE) ?? demoKey;
  if (offered) await look(offered, true);
})();
