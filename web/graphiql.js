import './style.css';
import 'graphiql/graphiql.css';
import './key.css';
import './tool.css';
import './repairs.js';
import './search';
import { useEditorContext, useSchemaContext } from '@graphiql/react';
import { GraphiQL } from 'graphiql';
import { createElement, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { answerBar } from './explorer/answer';
import { offerOnly } from './explorer/complete.js';
import { examplesPlugin } from './explorer/examples';
import { createFetcher, INTROSPECTION } from './explorer/send.js';
import { createStorage, openingTabs } from './explorer/tabs.js';
import { knownKey, onKey } from './key.js';

const settings = JSON.parse(document.getElementById('settings').textContent);
const headers = JSON.stringify({ Authorization: settings.authorization }, null, 2);
const answers = new EventTarget();
const opening = openingTabs(settings.tabs, headers);
const narrow = matchMedia('(max-width: 45rem)');
// GraphiQL's first request for the schema waits for this too (explorer/send.js)
let isKeyKnown = false;
void knownKey().then(() => (isKeyKnown = true));

/** Loads the schema again when the key changes, and reopens the tab that was open. Shows nothing. */
function Follower() {
  const { introspect } = useSchemaContext({ nonNull: true });
  const { changeTab, queryEditor, variableEditor, headerEditor, responseEditor } = useEditorContext({ nonNull: true });
  useEffect(() => {
    if (settings.introspection === 'off') return undefined;
    let isChange = false;
    const stop = onKey(() => {
      if (isChange && isKeyKnown) introspect();
    });
    isChange = true;
    return stop;
  }, [introspect]);
  useEffect(() => offerOnly(queryEditor), [queryEditor]);
  // GraphiQL opens the first tab, and others only once there are editors to fill
  const isReady = Boolean(queryEditor && variableEditor && headerEditor && responseEditor);
  useEffect(() => {
    if (isReady && opening.active > 0) changeTab(opening.active);
  }, [isReady]);
  useEffect(() => {
    if (!isReady) return undefined;
    // long lines would be cut; those of answers, such as texts of errors, on any screen
    const wrap = () => {
      for (const editor of [queryEditor, variableEditor, headerEditor, responseEditor])
        editor.setOption('lineWrapping', narrow.matches || editor === responseEditor);
    };
    wrap();
    narrow.addEventListener('change', wrap);
    return () => narrow.removeEventListener('change', wrap);
  }, [isReady]);
  return null;
}

// on a narrow screen the answer is below the query
answers.addEventListener('answer', () => {
  if (narrow.matches) document.querySelector('.graphiql-response').scrollIntoView({ block: 'nearest' });
});

createRoot(document.getElementById('graphiql')).render(
  createElement(
    GraphiQL,
    {
      fetcher: createFetcher({
        introspection: settings.introspection,
        onAnswer: (detail) => answers.dispatchEvent(new CustomEvent('answer', { detail })),
      }),
      introspectionQueryName: INTROSPECTION,
      storage: createStorage(headers),
      defaultTabs: opening.tabs,
      defaultHeaders: headers,
      defaultEditorToolsVisibility: 'variables',
      isHeadersEditorEnabled: true,
      shouldPersistHeaders: false,
      // the page around it follows the system's scheme too
      forcedTheme: 'system',
      plugins: [examplesPlugin(settings.tabs)],
      toolbar: { additionalComponent: Follower },
      // null stops GraphiQL from requesting a schema that it cannot get
      ...(settings.introspection === 'off' ? { schema: null } : {}),
    },
    createElement(GraphiQL.Footer, null, createElement(answerBar(answers))),
  ),
);
