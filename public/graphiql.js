'use strict';

const { createElement } = window.React;
const settings = JSON.parse(document.getElementById('settings').textContent);
const TABS_KEY = 'graphiql:tabState';
const KEPT = new Set([
  TABS_KEY,
  'graphiql:theme',
  'graphiql:docExplorerFlex',
  'graphiql:editorFlex',
  'graphiql:secondaryEditorFlex',
]);

/**
 * GraphiQL's storage: tabs without their headers, theme and sizes outlive the page; everything else ends with it, because
 * its history would keep the key. Tabs are read by `tabs()` below, which gives them the header that GraphiQL left out.
 */
function makeStorage() {
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

// a browser may refuse storage altogether
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
    // then nothing is kept
  }
}

/** The visitor's tabs of last time, or the examples; each with the Authorization header of today. */
function tabs() {
  const headers = JSON.stringify({ Authorization: settings.authorization }, null, 2);
  let kept = [];
  try {
    kept = JSON.parse(read(TABS_KEY) ?? '{}').tabs?.filter((tab) => tab.query) ?? [];
  } catch {
    // not ours to read: the examples will do
  }
  const shown = kept.length > 0 ? kept : settings.tabs;
  return shown.map(({ query, variables }) => ({ query, variables, headers }));
}

/** Right after a change of tabs GraphiQL still names the operation of the tab before: a name is sent where it chooses. */
function withoutStaleName({ operationName, ...parameters }) {
  const named = parameters.query.match(/^\s*(query|mutation)\b/gm) ?? [];
  return named.length > 1 ? { operationName, ...parameters } : parameters;
}

async function send(parameters, { headers = {} } = {}) {
  const authorization = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  if (authorization?.includes('…')) {
    return { errors: [{ message: 'Put your API key into the Headers tab below the query, in place of svc_live_…' }] };
  }
  const answer = await fetch('/graphql', {
    method: 'POST',
    credentials: 'omit',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json, application/json',
      ...headers,
    },
    body: JSON.stringify(withoutStaleName(parameters)),
  });
  return answer.json();
}

const examples = document.getElementById('examples');
examples.hidden = false;
examples.addEventListener('click', () => {
  write(TABS_KEY, undefined);
  location.reload();
});

window.ReactDOM.createRoot(document.getElementById('graphiql')).render(
  createElement(window.GraphiQL, {
    fetcher: send,
    storage: makeStorage(),
    defaultTabs: tabs(),
    defaultHeaders: JSON.stringify({ Authorization: settings.authorization }, null, 2),
    defaultEditorToolsVisibility: 'headers',
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false,
    // null keeps GraphiQL from asking for a schema that it would not get
    ...(settings.introspection === 'off' ? { schema: null } : {}),
  }),
);
