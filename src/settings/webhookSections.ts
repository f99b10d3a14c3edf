import { html, type Html } from '../pages/html';
import { columns, copyable, dialog, field, secretDialog } from './parts';

/* Webhooks on the settings page: their list, the page of an endpoint, and the dialogs to change them. */

/** What the page has to know of webhooks. */
export interface WebhookPart {
  /** Every type of event. */
  readonly types: readonly string[];
  /** Whether this gateway has a secret to derive those of endpoints from. */
  readonly canMake: boolean;
}

const NO_SECRET_NOTICE = html`<p class="info" id="no-webhook-secret">
  Webhooks are off: this gateway has no <code>WEBHOOK_SECRET</code>, from which the secrets of endpoints are derived.
  Ask its operator to set it, to the same value on every gateway; <code>openssl rand -hex 32</code> makes one.
</p>`;

export function webhooksSection(mayMake: boolean, { canMake }: WebhookPart): Html {
  const add = html`<button class="button primary" type="button" data-add-webhook>Add endpoint</button>`;
  return html`<section data-page="webhooks" aria-labelledby="webhooks-title" hidden>
    <div class="heading">
      <h1 id="webhooks-title" tabindex="-1">Webhooks</h1>
      ${mayMake && canMake ? add : undefined}
    </div>
    ${canMake ? undefined : NO_SECRET_NOTICE}
    <div class="alert" id="webhooks-failure" role="alert" hidden></div>
    <table class="rows" id="webhooks-table" aria-labelledby="webhooks-title" hidden>
      ${columns('URL', 'Events', 'State', 'Behind', 'Last accepted')}
      <tbody id="webhooks"></tbody>
    </table>
    <p id="no-webhooks" hidden>
      Webhooks tell your own server what happens here: each new quote, changed order or message is posted to a URL that
      you choose. It is signed, so that your server can check it, and sent again for three days if it fails.
    </p>
    <p class="hint"><a href="/webhooks">How to receive webhooks</a></p>
  </section>`;
}

/** The page of one endpoint. */
export function endpointPage(mayChange: boolean): Html {
  return html`<div data-page="endpoint" hidden>
    <p class="crumbs"><a href="/settings/webhooks">Webhooks</a></p>
    <div class="title">
      <h1 id="endpoint-title" class="url" tabindex="-1"></h1>
      <p><span class="tag" id="endpoint-state"></span></p>
    </div>
    <div class="alert" id="endpoint-failure" role="alert" hidden></div>
    <div id="endpoint-body" hidden>
      <div class="info" id="endpoint-notice" hidden></div>
      <dl class="facts endpoint-facts" id="endpoint-facts"></dl>
      ${mayChange ? html`<p class="actions wide" id="endpoint-actions"></p>` : undefined}
      <div id="endpoint-outcome" role="status"></div>
      ${DELIVERIES_SECTION}
    </div>
  </div>`;
}

const DELIVERIES_SECTION = html`<section aria-labelledby="deliveries-title">
  <div class="heading">
    <h2 id="deliveries-title">Deliveries</h2>
    <label class="filter"
      >State
      <select id="delivery-state">
        <option value="">all</option>
        <option value="delivered">delivered</option>
        <option value="waiting">retrying</option>
        <option value="held">held back</option>
        <option value="failed">given up</option>
        <option value="skipped">skipped</option>
      </select></label
    >
    <button class="button" type="button" id="refresh-endpoint">Refresh</button>
  </div>
  <div class="alert" id="deliveries-failure" role="alert" hidden></div>
  <table class="rows deliveries" id="deliveries-table" aria-labelledby="deliveries-title" hidden>
    ${columns('Event', 'Object', 'State', 'Attempts', 'Next attempt', 'First sent', html`<span class="unseen">Details</span>`)}
    <tbody id="deliveries"></tbody>
  </table>
  <p class="empty" id="no-deliveries" hidden></p>
  <button class="button more" type="button" id="more-deliveries" hidden>Show older deliveries</button>
  <p class="hint">What was sent is kept for 30 days. Test events are not listed.</p>
</section>`;

export function webhookDialogs(mayMake: boolean, part: WebhookPart): Html {
  return html`${mayMake ? [endpointDialog(part), ROTATE_DIALOG, ENABLE_DIALOG] : endpointDialog(part)}
  ${mayMake ? SECRET_DIALOG : undefined} ${DISABLE_DIALOG} ${DELETE_DIALOG}`;
}

function endpointDialog({ types }: WebhookPart): Html {
  const body = html`${field(
      'webhook',
      'url',
      'URL',
      html`inputmode="url" spellcheck="false" maxlength="2000" placeholder="https://…"`,
      {
        hint: 'An https URL that anybody on the internet could reach.',
      },
    )}
    <fieldset class="scopes types" aria-describedby="webhook-types-fault">
      <legend>Events</legend>
      <label><input type="radio" name="which" value="all" checked /> All, also of types that are added later</label>
      <label><input type="radio" name="which" value="some" /> Only these:</label>
      <p class="fault" id="webhook-types-fault" data-fault="types" hidden></p>
      <div class="groups" data-types>${[...groupsOf(types)].map(([object, own]) => typeGroup(object, own))}</div>
    </fieldset>`;
  const button = html`<button class="button primary" type="button" data-do>Add endpoint</button>`;
  return dialog('webhook', 'Add a webhook endpoint', body, button);
}

/** Types by what they are about. */
function groupsOf(types: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const type of types) {
    const [object = ''] = type.split('.');
    groups.set(object, [...(groups.get(object) ?? []), type]);
  }
  return groups;
}

/** What cannot be guessed from the name of a type. */
const NOTES: Readonly<Record<string, Html | undefined>> = {
  'feed.gap': html`<span class="hint">Events may be missing.</span>`,
};

function typeGroup(object: string, types: readonly string[]): Html {
  return html`<fieldset>
    <legend>
      <label><input type="checkbox" data-group="${object}" /> ${object}</label>
    </legend>
    ${types.map(
      (type) =>
        html`<label
            ><input type="checkbox" name="type" value="${type}" /> <code>${type.slice(object.length + 1)}</code>
            <span class="unseen">of ${object}</span></label
          >${NOTES[type]}`,
    )}
  </fieldset>`;
}

const SECRET_DIALOG = secretDialog(
  'webhook-secret',
  'Save this signing secret now',
  html`<p>
      It will not be shown again. Your server needs it to check that what arrives comes from here:
      <a href="/webhooks" target="_blank">how to receive webhooks</a>.
    </p>
    <p>Endpoint: <span class="url" data-url></span></p>
    ${copyable('The signing secret', html`<code data-secret></code>`, 'button primary')}
    <p data-old></p>`,
);

const ROTATE_DIALOG = dialog(
  'webhook-rotate',
  'Rotate the secret?',
  html`<p>
      <span class="url" data-url></span> gets a new signing secret. For 24 hours everything is signed with both, so that
      you can switch your server without losing anything; then the old one is no longer used.
    </p>
    <p class="info" data-again hidden></p>`,
  html`<button class="button primary" type="button" data-do>Rotate secret</button>`,
);

function choice(value: string, name: string, meaning: string): Html {
  return html`<div data-choice="${value}">
    <label><input type="radio" name="from" value="${value}" aria-describedby="from-${value}" /> ${name}</label>
    <p class="hint" id="from-${value}">${meaning}</p>
  </div>`;
}

const ENABLE_DIALOG = dialog(
  'webhook-enable',
  'Enable this endpoint?',
  html`<p>Send to <span class="url" data-url></span>:</p>
    <fieldset class="scopes choices">
      <legend>From when on</legend>
      ${choice('stopped', 'From where it stopped', 'Everything since then is sent, oldest first. What failed is tried at once.')}
      ${choice('time', 'From a time', 'Every event since then is sent, with the same id as before if it was sent already. Events waiting to be retried are skipped.')}
      ${choice('now', 'From now on', 'What happened meanwhile is not sent, and events waiting to be retried are skipped. You can still send it later, from a time: events are kept for 30 days.')}
    </fieldset>
    <div class="field" data-time hidden>
      <label for="webhook-time">Time (UTC)</label>
      <input
        id="webhook-time"
        name="time"
        type="datetime-local"
        aria-describedby="webhook-time-hint webhook-time-fault"
      />
      <p class="fault" id="webhook-time-fault" data-fault="from" hidden></p>
      <p class="hint" id="webhook-time-hint">At most 30 days ago.</p>
    </div>`,
  html`<button class="button primary" type="button" data-do>Enable endpoint</button>`,
);

const DISABLE_DIALOG = dialog(
  'webhook-disable',
  'Disable this endpoint?',
  html`<p>
    Nothing more is sent to <span class="url" data-url></span> until it is enabled again. If that is within 30 days, it
    can then get everything from where it stopped.
  </p>`,
  html`<button class="button danger" type="button" data-do>Disable endpoint</button>`,
);

const DELETE_DIALOG = dialog(
  'webhook-delete',
  'Delete this endpoint?',
  html`<p>
      <strong class="url" data-url></strong> gets nothing more, its secret is never used again, and the list of what was
      sent to it goes. This cannot be undone.
    </p>
    <p data-waiting></p>
    <p class="hint">To stop for a while, disable it instead.</p>`,
  html`<button class="button danger" type="button" data-do>Delete endpoint</button>`,
);
