import { withoutKeys } from '../keyText';
import { store, stored } from '../storage';

/* What GraphiQL keeps in this browser, never a key, and the tabs it opens with. */

const TABS_KEY = 'graphiql:tabState';
/** After how many milliseconds a change of tabs is surely stored: GraphiQL waits 500. */
const STORED_AFTER = 1_000;
/** The history and its favourites, each stored under the name of its list. */
const LISTS = new Map([
  ['graphiql:queries', 'queries'],
  ['graphiql:favorites', 'favorites'],
]);
const KEPT = new Set([
  TABS_KEY,
  ...LISTS.keys(),
  'graphiql:theme',
  'graphiql:docExplorerFlex',
  'graphiql:editorFlex',
  'graphiql:secondaryEditorFlex',
]);

/**
 * GraphiQL's storage: tabs, history, theme and sizes are kept, everything else only in memory. Headers are left out, because they contain
 * the key; requests of the history get `headers` back. Tabs are read by `openingTabs`.
 */
export function createStorage(headers) {
  const memory = new Map();
  let clearedAt = -Infinity;
  /** GraphiQL stores tabs half a second after a change: what it had not stored yet when the data was cleared must not come back. */
  const isLate = (name) => name === TABS_KEY && performance.now() - clearedAt < STORED_AFTER;
  const readKept = (name) => (LISTS.has(name) ? withHeaders(name, headers) : stored('localStorage', name));
  return {
    getItem: (name) => (name === TABS_KEY ? null : (memory.get(name) ?? (KEPT.has(name) ? readKept(name) : null))),
    setItem(name, value) {
      if (!KEPT.has(name)) memory.set(name, value);
      else if (!isLate(name)) store('localStorage', name, keptText(name, value));
    },
    removeItem: (name) => (KEPT.has(name) ? store('localStorage', name) : memory.delete(name)),
    clear() {
      clearedAt = performance.now();
      memory.clear();
      for (const name of KEPT) store('localStorage', name);
    },
    get length() {
      return memory.size;
    },
  };
}

function withHeaders(name, headers) {
  const list = LISTS.get(name);
  const items = parsed(name)[list];
  // GraphiQL throws for anything else
  return Array.isArray(items) ? JSON.stringify({ [list]: items.map((item) => ({ ...item, headers })) }) : null;
}

/** The text to keep; a query or its variables may have a key. */
function keptText(name, value) {
  const list = LISTS.get(name);
  return withoutKeys(list ? JSON.stringify({ [list]: JSON.parse(value)[list].map(keptOf) }) : value);
}

/** A request of the history without headers, and with its own name: after a tab change GraphiQL may give it the previous tab's. */
function keptOf({ headers: _left, operationName, ...item }) {
  const names = [...item.query.matchAll(/^\s*(?:query|mutation|subscription)\s+(\w+)/gm)].map(([, name]) => name);
  return { ...item, operationName: names.includes(operationName) ? operationName : names[0] };
}

/** Stored JSON; an empty object if it is missing or invalid. */
function parsed(name) {
  try {
    return JSON.parse(stored('localStorage', name)) ?? {};
  } catch {
    return {};
  }
}

/** The visitor's saved tabs, or the examples, each with these headers, and which of them is open. */
export function openingTabs(examples, headers) {
  const { tabs = [], activeTabIndex } = parsed(TABS_KEY);
  const kept = tabs.filter(({ query }) => query);
  const shown = kept.length > 0 ? kept : examples;
  return {
    tabs: shown.map(({ query, variables }) => ({ query, variables, headers })),
    active: Math.max(kept.indexOf(tabs[activeTabIndex]), 0),
  };
}
