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
 * GraphiQL's storage: tabs (without headers), theme and sizes are kept; everything else is only kept in memory, because
 * the history would contain the key. Tabs are read by `tabs()` below, which adds the header that GraphiQL left out.
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

/** The visitor's saved tabs, or the examples, each with the current Authorization header. */
function tabs() {
  const headers = JSON.stringify({ Authorization: settings.authorization }, null, 2);
  let kept = [];
  try {
    kept = JSON.parse(read(TABS_KEY) ?? '{}').tabs?.filter((tab) => tab.query) ?? [];
  } catch {
    // not readable: use the examples
  }
  const shown = kept.length > 0 ? kept : settings.tabs;
  return shown.map(({ query, variables }) => ({ query, variables, headers }));
}

/** After a tab change GraphiQL may still send the previous tab's operation name, so it is only sent if it is needed. */
function withoutStaleName({ operationName, ...parameters }) {
  const named = parameters.query.match(/^\s*(query|mutation|subscription)\b/gm) ?? [];
  return named.length > 1 ? { operationName, ...parameters } : parameters;
}

async function send(parameters, { headers = {} } = {}) {
  const authorization = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  if (authorization?.includes('…')) {
    return { errors: [{ message: 'Enter your API key in the Headers tab below the query, in place of svc_live_…' }] };
  }
  const answer = await fetch('/graphql', {
    method: 'POST',
    credentials: 'omit',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json, application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify(withoutStaleName(parameters)),
  });
  const isStream = answer.headers.get('Content-Type')?.startsWith('text/event-stream');
  return isStream ? results(answer.body) : answer.json();
}

/** The results of a subscription, from its Server-Sent Events. GraphiQL's stop ends the iteration, and that the stream. */
function results(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  const iterator = framesOf(reader);
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: () => iterator.next(),
    // a generator would wait for the next frame
    async return() {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}

async function* framesOf(reader) {
  let text = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const frames = (text + value).split('\n\n');
    text = frames.pop();
    for (const frame of frames) {
      const data = /^data: (.+)$/m.exec(frame)?.[1];
      if (data) yield JSON.parse(data);
    }
  }
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
    // null stops GraphiQL from requesting a schema that it cannot get
    ...(settings.introspection === 'off' ? { schema: null } : {}),
  }),
);
