import { AUDIT_ACTIONS, type AuditAction } from '../organisations/auditEvents';
import { html, Html } from '../pages/html';
import { BY_OPERATION, columns, totals } from './parts';
import { published } from '../schema/model';

/* Sections of the settings page about the whole organisation: its requests, who has signed in, and the audit log. */

/** Above the keys: what ends soon, what to do first, and the requests of all keys. */
export function overviewSection(mayMake: boolean): Html {
  return html`<section data-page="integrations" aria-labelledby="traffic-title" hidden>
    <div class="heading">
      <h1 id="traffic-title" tabindex="-1">Overview</h1>
      <fieldset class="switch" id="traffic-periods" hidden>
        <legend class="unseen">Period of the overview</legend>
        <label><input type="radio" name="overview" value="last_24h" checked />24 hours</label>
        <label><input type="radio" name="overview" value="last_30d" />30 days</label>
      </fieldset>
    </div>
    <div class="info warning" id="expiring" hidden>
      <h2 id="expiring-title"></h2>
      <ul id="expiring-keys" aria-labelledby="expiring-title"></ul>
      <p class="hint" id="expiring-more" hidden>There are more among the <a href="/settings/keys">API keys</a>.</p>
    </div>
    <div class="alert" id="traffic-failure" role="alert" hidden></div>
    ${firstSteps(mayMake)} ${TRAFFIC}
  </section>`;
}

/** Shown while the organisation has never had a key. */
function firstSteps(mayMake: boolean): Html {
  return html`<div id="first-steps" hidden>
    <p>
      Programs call the API with a key. A key belongs to this organisation, does only what its scopes allow, and can be
      limited to some addresses and to a time. Its value is shown once, when it is created: keep it where your program
      reads its secrets.
    </p>
    ${mayMake ? MAKE_FIRST : ASK_FIRST}
    <p class="buttons" id="first-button"></p>
  </div>`;
}

const MAKE_FIRST = html`<ol>
  <li>Create a key with the scopes that your program needs; “Read only” is enough to look around.</li>
  <li>Run the request that is shown with it in a terminal.</li>
  <li>Look up the other requests in the <a href="/api/v1/docs">reference</a>.</li>
</ol>`;

const ASK_FIRST = html`<p>
  There is none yet. Ask an admin of the organisation to create one; the <a href="/api/v1/docs">reference</a> shows what
  can be requested with it.
</p>`;

const TRAFFIC = html`<div id="traffic-body" hidden>
  <p class="empty" id="no-traffic" hidden></p>
  <div id="some-traffic">
    ${totals('all')}
    <div id="all-chart"></div>
    <details>
      <summary>By operation</summary>
      <table class="rows numbers" aria-label="Requests by operation">
        ${columns(...BY_OPERATION)}
        <tbody id="all-operations"></tbody>
      </table>
    </details>
    <details id="all-errors-by-code">
      <summary>By error code</summary>
      <table class="rows numbers codes" aria-label="Requests by error code">
        ${columns('Error code', 'Requests')}
        <tbody id="all-codes"></tbody>
      </table>
    </details>
    <p class="hint">
      Of all keys, the revoked and expired ones included. Figures are up to a minute old; times are in UTC. Errors are
      requests that failed, except with status 429.
    </p>
  </div>
</div>`;

export const MEMBERS_SECTION = html`<section data-page="members" aria-labelledby="members-title" hidden>
  <h1 id="members-title" tabindex="-1">Members</h1>
  <div class="alert" id="members-failure" role="alert" hidden></div>
  <table class="rows members" aria-labelledby="members-title">
    ${columns('Name', 'Role', 'Last sign-in', 'From', 'Session')}
    <tbody id="members"></tbody>
  </table>
  <p class="empty" id="more-members" hidden>Others signed in before those.</p>
  <p class="hint">
    Who has signed in to these settings. Your identity provider, or the operator of this gateway, decides who can.
  </p>
</section>`;

/** What each action is called. */
const WORDS: Readonly<Record<AuditAction, string>> = {
  'organisation.created': 'Organisation created',
  'organisation.renamed': 'Organisation renamed',
  'organisation.plan_changed': 'Plan changed',
  'organisation.suspended': 'Organisation suspended',
  'organisation.resumed': 'Organisation resumed',
  'organisation.restored': 'Organisation restored',
  'organisation.moving': 'Move begun',
  'organisation.moved': 'Organisation moved',
  'organisation.move_undone': 'Move undone',
  'organisation.copy_dropped': 'Copy deleted',
  'organisation.erasing': 'Erasure begun',
  'organisation.erased': 'Organisation erased',
  'sandbox.reset': 'Sandbox emptied',
  'customer.erased': 'Customer erased',
  'customer.readmitted': 'Customer readmitted',
  'key.created': 'Key created',
  'key.updated': 'Key changed',
  'key.rotated': 'Key rotated',
  'key.revoked': 'Key revoked',
  'keys.imported': 'Keys imported',
  'webhook.created': 'Webhook endpoint added',
  'webhook.updated': 'Webhook endpoint changed',
  'webhook.rotated': 'Webhook secret rotated',
  'webhook.enabled': 'Webhook endpoint enabled',
  'webhook.disabled': 'Webhook endpoint disabled',
  'webhook.deleted': 'Webhook endpoint deleted',
  'link.created': 'Sign-in link created',
  'user.signed_in': 'Signed in',
  'user.signed_out': 'Signed out',
};

/** Most events in a file; a browser holds them in memory meanwhile. */
const MOST_EVENTS = 50_000;

export const AUDIT_SECTION = html`<section data-page="audit" aria-labelledby="audit-title" hidden>
  <div class="heading">
    <h1 id="audit-title" tabindex="-1">Audit log</h1>
    <label class="filter"
      >What
      <select id="event-action">
        <option value="">everything</option>
        ${AUDIT_ACTIONS.map((action) => html`<option value="${action}">${WORDS[action]}</option>`)}
      </select></label
    >
    <label class="filter"
      >Key
      <select id="event-key">
        <option value="">any or none</option>
      </select></label
    >
    <button class="button" type="button" id="csv" data-most="${MOST_EVENTS}">Download CSV</button>
  </div>
  <div class="info" id="csv-state" hidden>
    <p id="csv-text"></p>
    <p class="buttons" id="csv-buttons"></p>
  </div>
  <div class="alert" id="events-failure" role="alert" hidden></div>
  <table class="rows audit" id="events-table" aria-labelledby="audit-title">
    ${columns('When', 'What', 'Who', 'From', 'Details')}
    <tbody id="events"></tbody>
  </table>
  <p class="empty" id="no-events" hidden>No matching events.</p>
  <button class="button more" type="button" id="more-events" hidden>Show older events</button>
</section>`;

/* The log of requests on the settings page: of the organisation, and of one key. */

/** What the page has to know of the request log. */
export interface RequestPart {
  /** Whether this gateway stores requests (REQUEST_LOG). */
  readonly isOn: boolean;
}

const STATUSES = [
  '2xx',
  '4xx',
  '5xx',
  '200',
  '201',
  '304',
  '400',
  '401',
  '403',
  '404',
  '405',
  '406',
  '409',
  '412',
].concat(['413', '415', '422', '429', '499', '500', '503']);

const ALL = ['', 'all'] as const;
const ANY = ['', 'any'] as const;

/** A filter of requests with these values and their names. */
function choice(label: string, filter: string, options: readonly (readonly [value: string, name: string])[]): Html {
  return html`<label class="filter"
    >${label}
    <select data-filter="${filter}">
      ${options.map(([value, name]) => html`<option value="${value}">${name}</option>`)}
    </select></label
  >`;
}

/** A filter of requests by a text. */
function search(label: string, filter: string, attributes: Html): Html {
  return html`<label class="filter"
    >${label}
    <input
      type="search"
      data-filter="${filter}"
      ${attributes}
      autocomplete="off"
      autocapitalize="none"
      spellcheck="false"
  /></label>`;
}

const OFF_NOTICE = html`<p class="info">
  This gateway stores no requests: its operator has set <code>REQUEST_LOG=off</code>. What is listed was stored by
  another gateway, or before.
</p>`;

const WHAT_IS_STORED = html`<p class="hint">
  Requests are kept for 7 days: of each organisation at most 10,000 that failed and 10,000 that succeeded. Every one
  that failed is listed or counted in “more like it”, except in a flood of them; of the others the first hundred, then
  one a minute. Query, headers, body and key are not stored. A new request appears within seconds; requests with a wrong
  key never do.
</p>`;

const WHAT_WAS_STORED = html`<p class="hint">
  Stored requests are kept for 7 days, without query, headers, body and key.
</p>`;

/** Requests with their filters, which the script finds by `data-filter`: the name that each has in the address. */
export function requestsSection(id: 'requests' | 'key-requests', { isOn }: RequestPart): Html {
  const ofKey = id === 'key-requests';
  const title = (level: 'h1' | 'h2'): Html => new Html(`<${level} id="${id}-title" tabindex="-1">Requests</${level}>`);
  return html`<section
    id="${id}"
    aria-labelledby="${id}-title"
    ${ofKey ? undefined : html` data-page="requests" hidden`}
  >
    <div class="heading">
      ${title(ofKey ? 'h2' : 'h1')}
      <button class="button" type="button" data-refresh>Refresh</button>
    </div>
    ${isOn ? undefined : OFF_NOTICE}
    <div class="filters" role="group" aria-label="Filter requests">
      ${choice('Result', 'result', [ALL, ['failed', 'failed'], ['successful', 'successful']])}
      ${choice('Status', 'status', [ANY, ...STATUSES.map((status) => [status, status] as const)])}
      ${choice('API', 'api', [ANY, ['rest', 'REST'], ['graphql', 'GraphQL'], ['mcp', 'MCP']])}
      ${search('Operation', 'operation', html`list="operations" placeholder="any" maxlength="200"`)}
      ${search('Request id', 'request_id', html`placeholder="X-Request-Id" maxlength="128"`)}
    </div>
    <div class="alert" data-failed role="alert" hidden></div>
    <table class="rows requests" aria-labelledby="${id}-title" hidden>
      ${columns(...(ofKey ? COLUMNS : ['When', 'Request', 'Key', ...COLUMNS.slice(2)]))}
      <tbody></tbody>
    </table>
    <p class="empty" data-none hidden></p>
    <button class="button more" type="button" data-more hidden>Show older requests</button>
    ${isOn ? WHAT_IS_STORED : WHAT_WAS_STORED}
  </section>`;
}

const COLUMNS = ['When', 'Request', 'API', 'Status', 'Took', 'From', html`<span class="unseen">Details</span>`];

/** The names that both filters by operation suggest. */
export function operationNames(): Html {
  const names = published.operations.filter(({ role }) => role === undefined).map(({ name }) => name);
  return html`<datalist id="operations">
    ${names.toSorted().map((name) => html`<option value="${name}"></option>`)}
  </datalist>`;
}
