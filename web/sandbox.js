import './style.css';
import './key.css';
import './tool.css';
import './search';
import { ApolloSandbox } from '@apollo/sandbox';
import { at, GATEWAY } from './base';
import { forKeys } from './explorer/schema.js';
import { fillKey, knownKey, OF_PAGE, takeKey } from './key.js';

/** How long Apollo's frame may take to send its first message: after `load`, which also fires without internet, and in total. */
const PATIENCE_MS = { loaded: 3_000, all: 10_000 };
/** What the frame may ask for. The package would also open windows and sockets for it, and store its tokens here. */
const ASKED = ['ExplorerListeningForHandshake', 'IntrospectionQueryWithHeaders', 'ExplorerRequest'];
const SUBSCRIPTION = 'ExplorerSubscriptionRequest';
const ENDPOINT = `${GATEWAY}/graphql`;
const settings = JSON.parse(document.getElementById('settings').textContent);
const stage = document.getElementById('sandbox');
const loading = document.getElementById('loading');

/** Redirects to the bundled GraphiQL, replacing this page in the history so that Back does not return to it. */
function giveWay() {
  if (loading.isConnected) location.replace(at('/graphiql'));
}

function begin() {
  new ApolloSandbox({
    target: stage,
    initialEndpoint: ENDPOINT,
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
  const frame = stage.querySelector('iframe');
  frame.title = 'Apollo Sandbox';
  frame.addEventListener('load', () => setTimeout(giveWay, PATIENCE_MS.loaded));
}

/** Drops messages that the frame may not send, before the package sees them. */
function screen(event) {
  const { data, origin, source } = event;
  if (origin !== settings.frame) return;
  loading.remove();
  if (ASKED.includes(data?.name)) return;
  event.stopImmediatePropagation();
  if (data?.name !== SUBSCRIPTION) return;
  const error = { message: 'Subscriptions run in GraphiQL, at /graphiql.' };
  const answer = { name: 'ExplorerSubscriptionResponse', operationId: data.operationId, response: { error } };
  source.postMessage(answer, settings.frame);
}

/** Sends a request from the Sandbox, without cookies. Sandbox is not told the visitor's key: it is filled in here. */
async function send(url, options) {
  if (url !== ENDPOINT) return refusal(`Requests go to ${ENDPOINT} only.`);
  const { scopes } = await knownKey();
  const { headers, isMissing, typed } = fillKey(options.headers);
  if (isMissing)
    return refusal('Enter your API key above, or in the Authorization header in place of the placeholder.');
  const isOfPage = isIntrospection(options.body);
  const answer = await fetch(url, {
    ...options,
    headers: { ...headers, ...(isOfPage && OF_PAGE) },
    credentials: 'omit',
  });
  if (!answer.ok) return answer;
  if (isOfPage) return withoutPeople(answer, scopes);
  if (typed !== undefined) void takeKey(typed);
  return answer;
}

function refusal(message) {
  return Response.json({ errors: [{ message }] });
}

/** Whether Sandbox asks for the schema. */
function isIntrospection(body) {
  return typeof body === 'string' && body.includes('"operationName":"IntrospectionQuery"');
}

async function withoutPeople(answer, scopes) {
  const { data, ...rest } = await answer.json();
  return Response.json({ ...rest, data: data?.__schema ? forKeys(data, scopes) : data }, { headers: answer.headers });
}

addEventListener('message', screen);
setTimeout(giveWay, PATIENCE_MS.all);
try {
  begin();
} catch {
  giveWay();
}
