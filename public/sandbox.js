import { forKeys } from './explorer/schema.js';
import { fillKey, knownKey, takeKey } from './key.js';

const PATIENCE_MS = 3_000;
const settings = JSON.parse(document.getElementById('settings').textContent);
const script = document.createElement('script');
let isOver = false;

/** Redirects to the bundled GraphiQL, replacing this page in the history so that Back does not return to it. */
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
    // the Content-Security-Policy blocks its style attributes; tool.css sizes the frame
    allowDynamicStyles: false,
    handleRequest: send,
  });
}

/** Sends a request from the Sandbox, without cookies. Sandbox is not told the visitor's key: it is filled in here. */
async function send(url, options) {
  const { scopes } = await knownKey();
  const { headers, isMissing, typed } = fillKey(options.headers);
  if (isMissing) {
    const message = 'Enter your API key above, or in the Authorization header in place of svc_live_…';
    return Response.json({ errors: [{ message }] });
  }
  const answer = await fetch(url, { ...options, headers, credentials: 'omit' });
  if (!answer.ok) return answer;
  if (isIntrospection(options.body)) return withoutPeople(answer, scopes);
  if (typed !== undefined) void takeKey(typed);
  return answer;
}

/** Whether Sandbox asks for the schema. */
function isIntrospection(body) {
  return typeof body === 'string' && body.includes('"operationName":"IntrospectionQuery"');
}

async function withoutPeople(answer, scopes) {
  const { data, ...rest } = await answer.json();
  return Response.json({ ...rest, data: data?.__schema ? forKeys(data, scopes) : data }, { headers: answer.headers });
}

script.src = settings.script;
script.addEventListener('load', begin);
script.addEventListener('error', giveWay);
setTimeout(giveWay, PATIENCE_MS);
document.head.append(script);
