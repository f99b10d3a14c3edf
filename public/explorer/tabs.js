/* What GraphiQL keeps, and the tabs that it opens with. */

const TABS_KEY = 'graphiql:tabState';
const KEPT = new Set([
  TABS_KEY,
  'graphiql:theme',
  'graphiql:docExplorerFlex',
  'graphiql:editorFlex',
  'graphiql:secondaryEditorFlex',
]);

/**
 * GraphiQL's storage: tabs (without headers), theme and sizes are kept; everything else is only kept in memory, because
 * the history would contain the key. Tabs are read by `openingTabs`, which adds the header that GraphiQL left out.
 */
export function createStorage() {
  const memory = new Map();
  return {
    getItem: (name) => (name === TABS_KEY ? null : (memory.get(name) ?? (KEPT.has(name) ? read(name) : null))),
    setItem: (name, value) => (KEPT.has(name) ? write(name, value) : memory.set(name, value)),
    removeItem: (name) => (KEPT.has(name) ? write(name, undefined) : memory.delete(name)),
    clear: () => memory.clear(),
    get length() {
      return memory.size;
    },
  };
}

// a browser may block storage
function read(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function write(name, value) {
  try {
    if (value === undefined) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // nothing is kept
  }
}

/** The visitor's saved tabs, or the examples, each with these headers. */
export function openingTabs(examples, headers) {
  let kept = [];
  try {
    kept = JSON.parse(read(TABS_KEY) ?? '{}').tabs?.filter((tab) => tab.query) ?? [];
  } catch {
    // not readable: use the examples
  }
  const shown = kept.length > 0 ? kept : examples;
  return shown.map(({ query, variables }) => ({ query, variables, headers }));
}
