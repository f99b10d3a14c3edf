import { askForKey, knownKey } from '../key.js';
import { newUuid } from '../samples.js';

export const IDEMPOTENCY_KEY = 'Idempotency-Key';

/** Whether a request is a write that can have an Idempotency-Key, and has none. */
export function isRetried(operation, { headers }) {
  return (
    headers[IDEMPOTENCY_KEY] === undefined &&
    operation.get('parameters')?.some((one) => one.get('name') === IDEMPOTENCY_KEY)
  );
}

/** An interceptor of requests that gives each write a key of its own, unless the visitor entered one. */
export function withIdempotencyKey(request) {
  const isWrite = !READS.includes(request.method.toLowerCase());
  if (isWrite && request.headers[IDEMPOTENCY_KEY] === undefined) request.headers[IDEMPOTENCY_KEY] = newUuid();
  return request;
}

/**
 * A plugin of Swagger UI that asks before it sends the example of a write, which would change the data of the key's organisation, and for the
 * key if there is none.
 */
export const askBeforeSending = ({ React: { createElement, useRef } }) => ({
  wrapComponents: {
    execute: (Original) =>
      function Execute(props) {
        const isAgreed = useRef(false);
        const ask = async (event) => {
          if (isAgreed.current) return;
          event.stopPropagation();
          const { currentTarget: place } = event;
          const { key } = await knownKey();
          if (!key && !(await askForKey())) return;
          isAgreed.current = !isExample(props) || (await agrees(props));
          // drawn anew with the key
          if (isAgreed.current) place.querySelector('.execute').click();
          isAgreed.current = false;
        };
        return createElement('div', { className: 'asking', onClickCapture: ask }, createElement(Original, props));
      },
  },
});

const READS = ['get', 'head', 'options'];

/** Whether a write would be sent with the body that the page came with. */
function isExample({ operation, method, path, oas3Selectors }) {
  if (READS.includes(method)) return false;
  const example = operation.getIn(['requestBody', 'content', 'application/json', 'example'])?.toJS();
  const body = oas3Selectors.requestBodyValue(path, method);
  if (example === undefined || body === undefined) return true;
  try {
    return canonical(JSON.parse(body)) === canonical(example);
  } catch {
    return false;
  }
}

/** JSON with the members of objects in one order. */
function canonical(value) {
  return JSON.stringify(value, (_, part) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}

/** Asks in a dialog; closing it is a no. */
function agrees({ method, path }) {
  const dialog = document.createElement('dialog');
  dialog.className = 'ask';
  dialog.setAttribute('aria-labelledby', 'ask-title');
  dialog.innerHTML = `<form method="dialog">
    <h2 id="ask-title">Send the example?</h2>
    <p><code></code> changes the data of your key’s organisation, and the body is still the example.</p>
    <p class="ask-buttons">
      <button class="own-button" value="no" autofocus>Cancel</button>
      <button class="own-button" value="yes">Send the example</button>
    </p>
  </form>`;
  dialog.querySelector('code').textContent = `${method.toUpperCase()} ${path}`;
  document.getElementById('content').append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
  });
}
