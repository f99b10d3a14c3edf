'use strict';

const PATIENCE_MS = 3_000;
const settings = JSON.parse(document.getElementById('settings').textContent);
const script = document.createElement('script');
let isOver = false;

/** Goes to the bundled GraphiQL; in place, so that going back does not come here again. */
function giveWay() {
  if (isOver) return;
  isOver = true;
  location.replace('/graphiql');
}

function begin() {
  if (isOver) return;
  if (typeof window.EmbeddedSandbox !== 'function') {
    giveWay();
    return;
  }
  isOver = true;
  document.getElementById('loading').remove();
  new window.EmbeddedSandbox({
    target: '#sandbox',
    initialEndpoint: `${location.origin}/graphql`,
    endpointIsEditable: false,
    initialState: {
      document: settings.document,
      headers: { Authorization: settings.authorization },
      includeCookies: false,
    },
    sendOperationHeadersInIntrospection: true,
    runTelemetry: false,
    // its style attributes would be refused by the Content-Security-Policy; tool.css sizes the frame
    allowDynamicStyles: false,
    handleRequest: send,
  });
}

/** Sends a request of the Sandbox, without cookies; a key that is still the placeholder is told here. */
async function send(url, options) {
  const authorization = Object.entries(options.headers ?? {}).find(
    ([name]) => name.toLowerCase() === 'authorization',
  )?.[1];
  if (authorization?.includes('…')) {
    const message = 'Put your API key into the Authorization header, in place of svc_live_…';
    return Response.json({ errors: [{ message }] });
  }
  return fetch(url, { ...options, credentials: 'omit' });
}

script.src = settings.script;
script.addEventListener('load', begin);
script.addEventListener('error', giveWay);
setTimeout(giveWay, PATIENCE_MS);
document.head.append(script);
