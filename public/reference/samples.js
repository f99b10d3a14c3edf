import { copy } from '../copy.js';
import { LANGUAGES } from '../samples.js';

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
  // what is entered in the other fields; drawn only if it changed, since every open operation listens
  useEffect(() => {
    const { specSelectors, oas3Selectors, getStore } = system;
    const enteredNow = () => [
      specSelectors.parameterValues([path, method]),
      oas3Selectors.requestBodyValue(path, method),
    ];
    let entered = enteredNow();
    return getStore().subscribe(() => {
      const next = enteredNow();
      if (entered[1] === next[1] && entered[0].equals(next[0])) return;
      entered = next;
      draw();
    });
  }, []);
  const text = LANGUAGES[chosen].write(requestOf(system, operation.toJS(), path, method));
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
          onClick: ({ currentTarget }) => void copy(currentTarget, text, () => code.current),
        },
        'Copy',
      ),
    ),
    createElement('pre', { ref: code, tabIndex: 0, role: 'group', 'aria-label': 'Code' }, text),
    createElement(
      'p',
      null,
      'Reads your key from the environment variable ',
      createElement('code', null, 'SCOPEGATE_KEY'),
      '.',
    ),
  );
}

/** The request that Execute would send, without the key. */
function requestOf({ specSelectors, oas3Selectors }, { parameters = [], requestBody }, path, method) {
  const entered = specSelectors.parameterValues([path, method]).toJS();
  const query = new URLSearchParams();
  const headers = {};
  let filled = path;
  for (const { name, in: place, example } of parameters) {
    const value = entered[`${place}.${name}`] ?? (place === 'path' ? example : undefined);
    if (value === undefined || value === '') continue;
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'header') headers[name] = String(value);
    else for (const one of [value].flat()) query.append(name, one);
  }
  const example = requestBody?.content?.['application/json']?.example;
  const body = oas3Selectors.requestBodyValue(path, method) ?? (example && JSON.stringify(example, null, 2));
  const text = query.size > 0 ? `?${query}` : '';
  return { method: method.toUpperCase(), url: `${location.origin}/api/v1${filled}${text}`, headers, body };
}
