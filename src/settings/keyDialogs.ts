import { DEFAULT_MCP, MCP_ACCESS, type McpAccess } from '../auth/mcpAccess';
import { ALL_SCOPES, type Scope } from '../auth/scopes';
import { html, type Html } from '../pages/html';
import { published } from '../schema/model';
import { copyable, dialog, faultPlace, field, secretDialog } from './parts';

/* The dialogs in which keys are created, changed, rotated and revoked. */

export function keyDialogs(mayMake: boolean): Html {
  return html`${mayMake ? [makeDialog(), EDIT_DIALOG, ROTATE_DIALOG, MADE_DIALOG] : undefined} ${REVOKE_DIALOG}`;
}

const MCP_CHOICES: Readonly<Record<McpAccess, string>> = {
  off: 'may not use it',
  read: 'may read, within its scopes',
  write: 'may read and write, within its scopes',
};

const nameField = (of: string): Html => field(of, 'name', 'Name', html`required maxlength="200" autofocus`);
const rangesField = (of: string): Html =>
  field(of, 'ranges', 'Allowed addresses (optional)', html`spellcheck="false"`, {
    hint: 'Comma-separated CIDR ranges, e.g. 203.0.113.0/24. Leave empty to allow any address.',
    argument: 'allowed_ranges',
  });

/** When a key may expire; `first` is another choice, before the others and in place of the usual one. */
const expiries = (first?: Html): Html =>
  html`${first}
    <option value="30">in 30 days</option>
    <option value="90" ${first ? undefined : html`selected`}>in 90 days</option>
    <option value="365">in a year</option>
    <option value="date">on a date</option>
    <option value="">never</option>`;
/** The script says what the first two are: the old key’s lifetime from now, and its date. */
const NEXT_EXPIRIES = html`<option selected></option>
  <option></option>
  <option value="date">on a date</option>`;

/** The script shows the date if it is chosen, and moves the description there. */
function expiryField(dialogName: string, label: string, choices: Html): Html {
  return html`<div class="field" data-expiry>
    <div class="beside">
      <label
        >${label}
        <select name="expires" aria-describedby="${dialogName}-expires_at-fault">
          ${choices}
        </select></label
      >
      <label data-date hidden
        >Last day (UTC)
        <input type="date" name="date" max="9999-12-31" />
      </label>
    </div>
    ${faultPlace(dialogName, 'expires_at')}
    <p class="hint" data-date hidden>It works until that day ends in UTC.</p>
  </div>`;
}

function mcpField(): Html {
  return html`<label class="field"
    >AI assistants (MCP)
    <select name="mcp">
      ${MCP_ACCESS.map(
        (access) =>
          html`<option value="${access}" ${access === DEFAULT_MCP ? html`selected` : undefined}>
            ${MCP_CHOICES[access]}
          </option>`,
      )}
    </select></label
  >`;
}

/** Scopes by resource; what is reserved for later is not offered. */
function offeredScopes(): ReadonlyMap<string, readonly Scope[]> {
  const isReserved = (scope: Scope): boolean => (published.scopeDescriptions.get(scope) ?? '').startsWith('Reserved');
  const offered = new Map<string, readonly Scope[]>();
  for (const scope of ALL_SCOPES.filter((one) => !isReserved(one))) {
    const [resource = ''] = scope.split(':');
    offered.set(resource, [...(offered.get(resource) ?? []), scope]);
  }
  return offered;
}

function scopeRow(resource: string, scopes: readonly Scope[]): Html {
  const allows = published.scopeDescriptions;
  const box = (action: string): Html => {
    const scope = scopes.find((one) => one === `${resource}:${action}`);
    return scope === undefined
      ? html`<td></td>`
      : html`<td title="${allows.get(scope) ?? ''}">
          <input type="checkbox" name="scope" value="${scope}" aria-label="${`${scope}: ${allows.get(scope) ?? ''}`}" />
        </td>`;
  };
  return html`<tr>
    <th scope="row">${resource}</th>
    ${box('read')} ${box('write')}
  </tr>`;
}

function makeDialog(): Html {
  const body = html`${nameField('make')}
    <fieldset class="scopes" aria-describedby="make-scopes-fault">
      <legend>Scopes</legend>
      <p class="switch" id="presets">
        <label><input type="radio" name="preset" value="read" /> Read only</label>
        <label><input type="radio" name="preset" value="all" /> Everything</label>
        <label><input type="radio" name="preset" value="some" checked /> By resource</label>
      </p>
      ${faultPlace('make', 'scopes')}
      <table class="matrix" aria-label="Scopes by resource">
        <thead>
          <tr>
            <th scope="col">Resource</th>
            <th scope="col">Read</th>
            <th scope="col">Write</th>
          </tr>
        </thead>
        <tbody>
          ${[...offeredScopes()].map(([resource, scopes]) => scopeRow(resource, scopes))}
        </tbody>
      </table>
    </fieldset>
    ${expiryField('make', 'Expires', expiries())}
    <details class="advanced">
      <summary>Advanced: assistants, addresses</summary>
      ${mcpField()} ${rangesField('make')}
    </details>`;
  const button = html`<button class="button primary" type="button" data-do>Create key</button>`;
  return dialog('make', 'New key', body, button);
}

const EDIT_DIALOG = dialog(
  'edit',
  'Edit this key',
  html`${nameField('edit')} ${rangesField('edit')}
    ${expiryField('edit', 'Expires', expiries(html`<option value="as-it-is" selected></option>`))}
    <p class="info" data-replaced hidden></p>
    ${mcpField()}
    <p class="hint">
      Changes apply from the next request with the key. Its scopes cannot be changed: create a key for others.
    </p>`,
  html`<button class="button primary" type="button" data-do>Save</button>`,
);

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
      addresses and, unless you choose otherwise, the same lifetime. Switch to it before the old key expires.
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
    >
    ${expiryField('rotate', 'The new key expires', NEXT_EXPIRIES)}`,
  html`<button class="button primary" type="button" data-do>Rotate key</button>`,
);

const MADE_DIALOG = secretDialog(
  'made',
  'Save this key now',
  html`<p><strong data-name></strong>: it will not be shown again. Store it where your program reads its secrets.</p>
    <p data-end></p>
    ${copyable('The key', html`<code data-key></code>`, 'button primary')}
    <p>Try it:</p>
    ${copyable('Example request with the key', html`<code data-curl></code>`)}
    <details data-assistant>
      <summary>Connect an assistant</summary>
      <p class="hint">
        For clients of the Model Context Protocol that read a file, such as <code>.mcp.json</code>. It contains the key:
        keep the file out of version control, or write <code>\${SCOPEGATE_KEY}</code> in its place where your client
        replaces that by the environment’s.
      </p>
      ${copyable('Configuration for an assistant', html`<code data-mcp></code>`)}
    </details>
    <p data-old></p>`,
);
