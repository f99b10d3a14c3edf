import { html, type Html } from '../pages/html';
import { loadDocument } from '../schema/sdl';
import { findOperations } from '../schema/declaredOperations';
import { columns } from './parts';

/* The log of requests on the settings page: of the organisation, and of one key. */

/** What the page has to know of the request log. */
export interface RequestPart {
  /** Whether this gateway stores requests (REQUEST_LOG). */
  readonly isOn: boolean;
}

const STATUSES = ['2xx', '4xx', '5xx', '200', '201', '304', '400', '401', '403', '404', '405', '406', '409', '412']
  .concat(['413', '415', '422', '429', '499', '500', '503'])
  .map((status) => html`<option>${status}</option>`);

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
  return html`<section id="${id}" aria-labelledby="${id}-title">
    <div class="heading">
      <h2 id="${id}-title" tabindex="-1">Requests</h2>
      <button class="button" type="button" data-refresh>Refresh</button>
    </div>
    ${isOn ? undefined : OFF_NOTICE}
    <div class="filters" role="group" aria-label="Filter requests">
      <label class="filter"
        >Result
        <select data-filter="requests">
          <option value="">all</option>
          <option value="failed">failed</option>
          <option value="successful">successful</option>
        </select></label
      >
      <label class="filter"
        >Status
        <select data-filter="status">
          <option value="">any</option>
          ${STATUSES}
        </select></label
      >
      <label class="filter"
        >API
        <select data-filter="api">
          <option value="">any</option>
          <option value="rest">REST</option>
          <option value="graphql">GraphQL</option>
          <option value="mcp">MCP</option>
        </select></label
      >
      <label class="filter"
        >Operation
        <input
          type="search"
          data-filter="operation"
          list="operations"
          placeholder="any"
          maxlength="200"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
      /></label>
      <label class="filter"
        >Request id
        <input
          type="search"
          data-filter="request_id"
          placeholder="X-Request-Id"
          maxlength="128"
          autocomplete="off"
          autocapitalize="none"
          spellcheck="false"
      /></label>
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

const COLUMNS = [
  'When',
  'Request',
  'API',
  'Status',
  'Took',
  'From',
  'Request id',
  html`<span class="unseen">Details</span>`,
];

/** The names that both filters by operation suggest. */
export function operationNames(): Html {
  const names = findOperations(loadDocument())
    .filter(({ role }) => role === undefined)
    .map(({ name }) => name);
  return html`<datalist id="operations">
    ${names.toSorted().map((name) => html`<option value="${name}"></option>`)}
  </datalist>`;
}
