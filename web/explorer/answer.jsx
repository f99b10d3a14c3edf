/** @jsxImportSource react */
import { useEditorContext } from '@graphiql/react';
import { useEffect, useRef, useState } from 'react';
import { curlOf } from '../../src/pages/samples';
import { GATEWAY } from '../base';
import { copy } from '../copy';
import { withoutStaleName } from './send.js';

/** The bar below an answer: status, duration, and the request as a curl command. */
export function answerBar(answers) {
  return function AnswerBar() {
    const [answered, setAnswered] = useState({});
    const [refused, setRefused] = useState();
    const shown = useRef(null);
    const editors = useEditorContext({ nonNull: true });
    const open = useRef();
    open.current = editors.tabs[editors.activeTabIndex]?.id;
    const last = answered[open.current];
    useEffect(() => {
      // each tab has its own answer, and another tab may be open when it arrives
      const tabs = new WeakMap();
      const listen = ({ detail }) => {
        const { request, isRunning } = detail;
        if (isRunning) tabs.set(request, open.current);
        const tab = tabs.get(request);
        setAnswered((others) => ({ ...others, [tab]: detail }));
      };
      answers.addEventListener('answer', listen);
      return () => answers.removeEventListener('answer', listen);
    }, []);
    const copyCurl = async ({ currentTarget: button }) => {
      const text = curl(editors);
      // shown only where the browser does not copy
      if (!navigator.clipboard) setRefused(text);
      await copy(button, text, () => shown.current);
    };
    return (
      <div className="answer-bar">
        <output aria-label="Last answer">{last && words(last)}</output>
        <button type="button" className="button" onClick={copyCurl}>
          Copy as curl
        </button>
        <pre ref={shown} hidden={refused === undefined} tabIndex={0} aria-label="curl">
          {refused}
        </pre>
      </div>
    );
  };
}

function words({ status, ms, isListening, isRunning, isUnsent, isStopped }) {
  if (isUnsent) return 'Not sent';
  if (isStopped) return 'Stopped';
  if (isRunning) return 'Running…';
  if (isListening) return 'Listening…';
  return status === undefined ? 'No answer' : `HTTP ${String(status)} in ${String(Math.round(ms))} ms`;
}

function curl({ queryEditor, variableEditor, headerEditor }) {
  const query = queryEditor.getValue();
  const operationName = queryEditor.operationName ?? undefined;
  const variables = parsed(variableEditor?.getValue());
  const headers = withoutKey(parsed(headerEditor?.getValue()));
  const body = JSON.stringify(withoutStaleName({ query, variables, operationName }));
  return curlOf({ method: 'POST', url: `${GATEWAY}/graphql`, headers, body });
}

function withoutKey(headers = {}) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'authorization'));
}

/** The value of JSON text; undefined if it is missing or invalid. */
function parsed(text) {
  try {
    return text?.trim() ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}
