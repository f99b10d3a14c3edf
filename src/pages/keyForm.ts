import { html, type Html } from './html';

/**
 * Where a visitor types the key that serves the reference and the explorer; public/key.js does the rest. Before it is loaded, Enter does
 * nothing: the method is one that sends nothing, and a field without a name is never sent.
 */
export const KEY_FORM: Html = html`<form id="key" class="key" method="dialog" aria-label="API key">
  <div class="key-part">
    <label for="typed">API key</label>
    <input id="typed" type="password" autocomplete="off" spellcheck="false" placeholder="svc_live_…" required />
    <button class="own-button" type="submit">Use key</button>
    <span class="key-hint">Kept in this tab only.</span>
  </div>
  <div class="key-part" hidden>
    <span>API key</span>
    <output></output>
    <button class="own-button" type="button">Forget key</button>
  </div>
  <p role="status"></p>
</form>`;

/** What stands in the place of a page until its scripts draw it. */
export const LOADING: Html = html`<p class="notice loading" role="status">Loading…</p>`;
