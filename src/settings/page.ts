import { DEFAULT_MCP, MCP_ACCESS, type McpAccess } from '../access/apiKey';
import { PLANS } from '../access/plans';
import { ALL_SCOPES } from '../access/scopes';
import type { Session } from '../organisations/sessions';
import { html, type Html, jsonBlock } from '../pages/html';
import { layout } from '../pages/layout';
import { scopeDescriptions } from '../schema/scopes';
import { columns, copyable, dialog, faultPlace, secretDialog } from './parts';
import { endpointPage, webhookDialogs, type WebhookPart, webhooksSection } from './webhookSections';

/** `/settings/integrations`: the page without its rows, which are loaded through GraphQL. */
export function renderIntegrations(session: Session, csrf: string, webhooks: WebhookPart): Html {
  const { organisation, user, role } = session;
  const hasPlan = PLANS[organisation.plan].integrations;
  const mayChange = role === 'admin';
  return layout({
    title: `Integrations · ${organisation.name} · Scopegate`,
    description: 'API keys and webhooks of the organisation, usage and the audit log.',
    current: '/settings/integrations',
    kind: 'settings',
    styles: ['prose.css', 'settings/dialogs.css', 'settings/keys.css', 'settings/webhooks.css'],
    module: 'settings/settings.js',
    body: html`<div id="overview">
        <div class="title">
          <div>
            <h1>Integrations</h1>
            <p class="lead"><strong>${organisation.name}</strong>, on the plan ${organisation.plan}.</p>
          </div>
          <form class="account" method="post" action="/settings/sign-out">
            <p>${user.name} <span class="tag">${role}</span></p>
            <input type="hidden" name="csrf" value="${csrf}" />
            <button class="button" type="submit">Sign out</button>
            <button class="button" type="submit" name="everywhere" value="1">Sign out everywhere</button>
          </form>
        </div>
        ${hasPlan ? undefined : PLAN_NOTICE}
        ${
          mayChange
            ? undefined
            : html`<p class="info">
                You are a member: you can view keys and webhooks, but only admins can change them.
              </p>`
        }
      </div>
      <p class="alert" id="failure" role="alert" hidden></p>
      <p class="unseen" id="said" role="status"></p>
      <noscript
        ><p class="alert">
          This page needs JavaScript. You can also manage keys with <code>scopegate key</code>.
        </p></noscript
      >
      <div id="lists">
        ${keysSection(mayChange && hasPlan)} ${USAGE_SECTION} ${webhooksSection(mayChange && hasPlan, webhooks)}
        ${AUDIT_SECTION}
      </div>
      ${endpointPage(mayChange)} ${mayChange ? [dialogs(hasPlan), webhookDialogs(hasPlan, webhooks)] : undefined}
      ${jsonBlock('settings', {
        ...{ csrf, mayChange, hasPlan, canMakeWebhooks: webhooks.canMake },
        // a page is never used for another organisation or user than it was opened for
        ...{ organisation: organisation.id, user: user.id },
      })}`,
  });
}

const PLAN_NOTICE = html`<p class="info" id="plan">
  This organisation’s plan does not include integrations: its keys get the error <code>plan_required</code>, and no new
  keys or webhooks can be created. Existing keys can be revoked, and work again as soon as the plan includes
  integrations.
</p>`;

function keysSection(mayMake: boolean): Html {
  return html`<section aria-labelledby="keys-title">
    <div class="heading">
      <h2 id="keys-title" tabindex="-1">API keys</h2>
      <input
        id="search-keys"
        type="search"
        aria-label="Search keys"
        placeholder="Name or last four"
        maxlength="200"
        autocomplete="off"
        spellcheck="false"
      />
      <label class="filter"
        >Show
        <select id="state">
          <option value="active">active</option>
          <option value="ended">revoked and expired</option>
          <option value="all">all</option>
        </select></label
      >
      ${mayMake ? html`<button class="button primary" type="button" id="make">New key</button>` : undefined}
    </div>
    <div id="doubts"></div>
    <div class="alert" id="keys-failure" role="alert" hidden></div>
    <table class="rows keys" aria-labelledby="keys-title">
      ${columns('Name', 'Key', 'Scopes', 'Created', 'Last used', 'Expires', 'State', html`<span class="unseen">Actions</span>`)}
      <tbody id="keys"></tbody>
    </table>
    <p class="empty" id="no-keys" hidden></p>
    <button class="button more" type="button" id="more-keys" hidden>Show more keys</button>
  </section>`;
}

const USAGE_SECTION = html`<section id="usage" aria-labelledby="usage-title" hidden>
  <div class="heading">
    <h2 id="usage-title" tabindex="-1">Usage</h2>
    <fieldset class="switch">
      <legend class="unseen">Period</legend>
      <label><input type="radio" name="period" value="last_24h" checked />24 hours</label>
      <label><input type="radio" name="period" value="last_30d" />30 days</label>
    </fieldset>
    <button class="button" type="button" id="close-usage">Close</button>
  </div>
  <div class="alert" id="usage-failure" role="alert" hidden></div>
  <div id="usage-body" hidden>
    <dl class="totals">
      <div>
        <dt>Requests</dt>
        <dd id="total-requests"></dd>
      </div>
      <div>
        <dt><span class="swatch bad"></span>Errors</dt>
        <dd id="total-errors"></dd>
      </div>
      <div>
        <dt><span class="swatch limited"></span>429s</dt>
        <dd id="total-limited"></dd>
      </div>
    </dl>
    <div id="chart"></div>
    <p class="hint">
      Updated once a minute; times are in UTC. Errors are responses with status 400 and above, except 429.
    </p>
    <details>
      <summary>As a table</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Usage as a table">
        <table class="plain">
          ${columns('From (UTC)', 'Requests', 'Errors', '429s')}
          <tbody id="buckets"></tbody>
        </table>
      </div>
    </details>
  </div>
</section>`;

const AUDIT_SECTION = html`<section aria-labelledby="audit-title">
  <h2 id="audit-title">Audit log</h2>
  <div class="alert" id="events-failure" role="alert" hidden></div>
  <table class="rows audit" aria-labelledby="audit-title">
    ${columns('When', 'What', 'Who', 'From', 'Details')}
    <tbody id="events"></tbody>
  </table>
  <button class="button more" type="button" id="more-events" hidden>Show older events</button>
</section>`;

function dialogs(mayMake: boolean): Html {
  return html`${mayMake ? [makeDialog(), ROTATE_DIALOG, MADE_DIALOG] : undefined} ${REVOKE_DIALOG}`;
}

const MCP_CHOICES: Readonly<Record<McpAccess, string>> = {
  off: 'may not use it',
  read: 'may read, within its scopes',
  write: 'may read and write, within its scopes',
};

function makeDialog(): Html {
  const allows = scopeDescriptions();
  const body = html`<div class="field">
      <label for="make-name">Name</label>
      <input
        id="make-name"
        name="name"
        required
        maxlength="200"
        autocomplete="off"
        aria-describedby="make-name-fault"
      />
      ${faultPlace('make', 'name')}
    </div>
    <fieldset class="scopes" aria-describedby="make-scopes-fault">
      <legend>Scopes</legend>
      <p class="switch" id="presets">
        <label><input type="radio" name="preset" value="read" /> Read only</label>
        <label><input type="radio" name="preset" value="all" /> Everything</label>
        <label><input type="radio" name="preset" value="some" checked /> By resource</label>
      </p>
      ${faultPlace('make', 'scopes')}
      ${ALL_SCOPES.map(
        (scope) =>
          html`<label
            ><input type="checkbox" name="scope" value="${scope}" />
            <span><code>${scope}</code> ${allows.get(scope) ?? ''}</span></label
          >`,
      )}
    </fieldset>
    <label class="field"
      >Expires
      <select name="expires">
        <option value="30">in 30 days</option>
        <option value="90" selected>in 90 days</option>
        <option value="365">in a year</option>
        <option value="">never</option>
      </select></label
    >
    <label class="field"
      >Assistants, over MCP
      <select name="mcp">
        ${MCP_ACCESS.map(
          (access) =>
            html`<option value="${access}" ${access === DEFAULT_MCP ? html`selected` : undefined}>
              ${MCP_CHOICES[access]}
            </option>`,
        )}
      </select></label
    >
    <div class="field">
      <label for="make-ranges">Allowed addresses (optional)</label>
      <input
        id="make-ranges"
        name="ranges"
        autocomplete="off"
        spellcheck="false"
        aria-describedby="make-ranges-hint make-allowed_ranges-fault"
      />
      ${faultPlace('make', 'allowed_ranges')}
      <p class="hint" id="make-ranges-hint">
        Comma-separated CIDR ranges, e.g. 203.0.113.0/24. Leave empty to allow any address.
      </p>
    </div>`;
  const button = html`<button class="button primary" type="button" data-do>Create key</button>`;
  return dialog('make', 'New key', body, button);
}

const REVOKE_DIALOG = dialog(
  'revoke',
  'Revoke this key?',
  html`<p>
      Anything that uses <strong data-name></strong> (<code data-prefix></code>) stops working immediately: its next
      request gets a 401. This cannot be undone.
    </p>
    <p data-use></p>
    <p>Its scopes:</p>
    <ul data-scopes></ul>
    <p class="hint">To replace a key without downtime, rotate it instead: the old one keeps working for a while.</p>`,
  html`<button class="button danger" type="button" data-do>Revoke key</button>`,
);

const ROTATE_DIALOG = dialog(
  'rotate',
  'Rotate this key?',
  html`<p>
      A new key replaces <strong data-name></strong> (<code data-prefix></code>), with the same name, scopes and allowed
      addresses. Switch to it before the old key expires.
    </p>
    <label class="field"
      >Keep the old key working for
      <select name="overlap">
        <option value="0">0 hours (expire it now)</option>
        <option value="1">1 hour</option>
        <option value="24" selected>24 hours</option>
        <option value="168">7 days</option>
        <option value="720">30 days</option>
      </select></label
    >`,
  html`<button class="button primary" type="button" data-do>Rotate key</button>`,
);

const MADE_DIALOG = secretDialog(
  'made',
  'Save this key now',
  html`<p><strong data-name></strong>: it will not be shown again. Store it where your program reads its secrets.</p>
    ${copyable('The key', html`<code data-key></code>`)}
    <p>Try it:</p>
    ${copyable('Example request with the key', html`<code data-curl></code>`)}
    <details data-assistant>
      <summary>Connect an assistant</summary>
      <p class="hint">For clients of the Model Context Protocol that read a file, such as <code>.mcp.json</code>:</p>
      ${copyable('Configuration for an assistant', html`<code data-mcp></code>`)}
    </details>
    <p data-old></p>`,
);
