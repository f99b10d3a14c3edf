/** @jsxImportSource react */
import { useEditorContext } from '@graphiql/react';
import { useEffect, useRef, useState } from 'react';
import { onKey } from '../key.js';

/* A plugin of GraphiQL that opens examples beside the visitor's own tabs. */

export function examplesPlugin(examples) {
  return { title: 'Examples', icon: Icon, content: () => <Examples examples={examples} /> };
}

function Examples({ examples }) {
  const editor = useEditorContext({ nonNull: true });
  const wanted = useRef();
  const [scopes, setScopes] = useState();
  useEffect(() => onKey((key) => setScopes(key.scopes)), []);
  const { tabs, activeTabIndex } = editor;
  // a new tab gets GraphiQL's own text first
  useEffect(() => {
    if (!wanted.current) return;
    const { query, variables = '', headers } = wanted.current;
    wanted.current = undefined;
    editor.queryEditor.setValue(query);
    editor.variableEditor.setValue(variables);
    editor.headerEditor.setValue(headers);
  }, [editor, tabs.length, activeTabIndex]);
  const open = (example) => {
    const at = tabs.findIndex(({ query }) => query === example.query);
    if (at >= 0) {
      editor.changeTab(at);
      return;
    }
    wanted.current = { ...example, headers: editor.headerEditor.getValue() };
    editor.addTab();
  };
  return (
    <section className="examples" aria-label="Examples">
      <div className="examples-title">Examples</div>
      <p>Each opens in a tab of its own; your tabs stay as they are.</p>
      <ul>
        {examples.map((example) => (
          <li key={nameOf(example)}>
            <button type="button" className="button" onClick={() => open(example)}>
              {nameOf(example)}
            </button>
            <p>{aboutOf(example)}</p>
            {lackOf(example, scopes)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function nameOf({ query }) {
  return /^(?:query|mutation|subscription) (\w+)/m.exec(query)[1];
}

/** Which scopes the key lacks for it, if those that it has are known. */
function lackOf(example, scopes) {
  const lacking = scopes ? example.scopes.filter((scope) => !scopes.includes(scope)) : [];
  return lacking.length > 0 && <p className="bad">Your key lacks {lacking.join(' and ')}.</p>;
}

/** The comment above the operation. */
function aboutOf({ query }) {
  const lines = query.split('\n').filter((line) => line.startsWith('# '));
  return lines.map((line) => line.slice(2)).join(' ');
}

const Icon = () => (
  <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth={1.5} aria-hidden>
    <path d="M4 5h16M4 12h10M4 19h7M17 15l4 3-4 3z" strokeLinecap="round" strokeLinejoin="round" />
  </svg>
);
