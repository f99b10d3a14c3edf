import { copy } from '../copy.js';
import { LANGUAGES, newUuid } from '../samples.js';
import { isRetried } from './writes.js';

/** A plugin of Swagger UI that shows each operation as code to copy, with what the visitor entered. It replaces Swagger's curl, which has the key in it. */
export const samples = (system) => {
  const { React } = system;
  const { createElement, Fragment } = React;
  return {
    wrapComponents: {
      parameters: (Original) =>
        function Parameters(props) {
          const samples = createElement(Samples, { ...props, system });
          return createElement(Fragment, null, createElement(Original, props), samples);
        },
      curl: () => () => null,
    },
  };
};

/** The language that was chosen last, for all operations. */
let chosen = 0;

function Samples({ system, operation, pathMethod: [path, method] }) {
  const { createElement, useEffect, useReducer, useRef } = system.React;
  const [, draw] = useReducer((count) => count + 1, 0);
  const code = useRef(null);
  const { specSelectors, oas3Selectors, getStore } = system;
  const enteredNow = () => [
    specSelectors.parameterValues([path, method]),
    oas3Selectors.requestBodyValue(path, method),
  ];
  const drawn = useRef();
  drawn.current = enteredNow();
  // what is entered in the other fields; drawn only if it changed, since every open operation listens
  useEffect(() => {
    const drawChanges = () => {
      const [parameters, body] = enteredNow();
      if (drawn.current[1] !== body || !drawn.current[0].equals(parameters)) draw();
    };
    // the fields have been filled since
    drawChanges();
    return getStore().subscribe(drawChanges);
  }, []);
  const { request, lacking } = requestOf(system, operation.toJS(), path, method);
  // another request under the same Idempotency-Key would be refused
  const idempotency = useRef({});
  const content = JSON.stringify(request);
  if (idempotency.current.content !== content) idempotency.current = { content, key: newUuid() };
  const write = () =>
    LANGUAGES[chosen].write({ ...request, ...(isRetried(operation, request) && { fresh: idempotency.current.key }) });
  const text = write();
  const copyText = ({ currentTarget }) => {
    // what is copied again is meant to be done again
    idempotency.current.key = newUuid();
    void copy(currentTarget, write(), () => code.current);
    draw();
  };
  return createElement(
    'section',
    { className: 'samples', 'aria-label': `Sample of ${method.toUpperCase()} ${path}` },
    createElement(
      'div',
      { className: 'samples-bar' },
      LANGUAGES.map(({ name }, at) =>
        createElement(
          'button',
          {
            ...{ key: name, type: 'button', className: 'own-button', 'aria-pressed': at === chosen },
            onClick: () => {
              chosen = at;
              draw();
            },
          },
          name,
        ),
      ),
      createElement(
        'button',
        {
          ...{ type: 'button', className: 'own-button samples-copy' },
          onClick: copyText,
        },
        'Copy',
      ),
    ),
    createElement('pre', { ref: code, tabIndex: 0, role: 'group', 'aria-label': 'Code' }, text),
    lacking.length > 0 && createElement('p', { className: 'lack' }, `Enter ${lacking.join(' and ')} first.`),
    createElement(
      'p',
      null,
      'Reads your key from the environment variable ',
      createElement('code', null, 'SCOPEGATE_KEY'),
      '.',
    ),
  );
}

/** The request that Execute would send, without the key and what it has by default, and the names of what it lacks. */
function requestOf({ specSelectors, oas3Selectors }, { parameters = [], requestBody }, path, method) {
  const entered = specSelectors.parameterValues([path, method]).toJS();
  const query = new URLSearchParams();
  const headers = {};
  const lacking = [];
  let filled = path;
  for (const { name, in: place, required, schema } of parameters) {
    const value = entered[`${place}.${name}`] ?? '';
    if (required && value === '') lacking.push(name);
    if (value === '' || String(value) === String(schema?.default)) continue;
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'header') headers[name] = String(value);
    else for (const one of [value].flat()) query.append(name, one);
  }
  const example = requestBody?.content?.['application/json']?.example;
  const body = oas3Selectors.requestBodyValue(path, method) ?? (example && JSON.stringify(example, null, 2));
  const text = query.size > 0 ? `?${query}` : '';
  const url = `${location.origin}/api/v1${filled}${text}`;
  return { request: { method: method.toUpperCase(), url, headers, body }, lacking };
}
