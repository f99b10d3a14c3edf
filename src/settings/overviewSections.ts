import type { AuditAction } from '../organisations/auditEvents';
import { html, type Html } from '../pages/html';
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

export const MEMBERS_PAGE = html`<section data-page="members" aria-labelledby="members-title" hidden></section>`;

/** What each action of the audit log is called. */
export const ACTIONS: Readonly<Record<AuditAction, string>> = {
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

export const AUDIT_PAGE = html`<section data-page="audit" aria-labelledby="audit-title" hidden></section>`;

/** The requests of the organisation. */
export const REQUESTS_PAGE = html`<section
  id="requests"
  data-page="requests"
  aria-labelledby="requests-title"
  hidden
></section>`;

/** The names that both filters by operation suggest. */
export function operationNames(): Html {
  const names = published.operations.filter(({ role }) => role === undefined).map(({ name }) => name);
  return html`<datalist id="operations">
    ${names.toSorted().map((name) => html`<option value="${name}"></option>`)}
  </datalist>`;
}
