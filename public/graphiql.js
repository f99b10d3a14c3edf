import { examplesPlugin } from './explorer/examples.js';
import { createFetcher, INTROSPECTION } from './explorer/send.js';
import { createStorage, openingTabs } from './explorer/tabs.js';

const { createElement, useEffect } = window.React;
const { useSchemaContext } = window.GraphiQL.React;
const settings = JSON.parse(document.getElementById('settings').textContent);
const headers = JSON.stringify({ Authorization: settings.authorization }, null, 2);
const keys = new EventTarget();

/** Loads the schema once a key was accepted: before, there was none to ask for it with. Shows nothing. */
function SchemaLoader() {
  const { introspect, schema } = useSchemaContext({ nonNull: true });
  useEffect(() => {
    const load = () => {
      if (!schema) introspect();
    };
    keys.addEventListener('accepted', load);
    return () => keys.removeEventListener('accepted', load);
  }, [introspect, schema]);
  return null;
}

window.ReactDOM.createRoot(document.getElementById('graphiql')).render(
  createElement(window.GraphiQL, {
    fetcher: createFetcher({
      introspection: settings.introspection,
      onKey: () => keys.dispatchEvent(new Event('accepted')),
    }),
    introspectionQueryName: INTROSPECTION,
    storage: createStorage(),
    defaultTabs: openingTabs(settings.tabs, headers),
    defaultHeaders: headers,
    defaultEditorToolsVisibility: 'headers',
    isHeadersEditorEnabled: true,
    shouldPersistHeaders: false,
    plugins: [examplesPlugin(settings.tabs)],
    toolbar: { additionalComponent: SchemaLoader },
    // null stops GraphiQL from requesting a schema that it cannot get
    ...(settings.introspection === 'off' ? { schema: null } : {}),
  }),
);
