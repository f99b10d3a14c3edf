import { html, type Html } from '../pages/html';
import { BY_OPERATION, columns, totals } from './parts';

/* API keys on the settings page: their list, and the page of one. */

/** The list of keys. */
export const KEYS_PAGE = html`<section data-page="keys" aria-labelledby="keys-title" hidden></section>`;

/** The page of one key. */
export function keyPage(mayChange: boolean): Html {
  return html`<section data-page="key" aria-labelledby="key-title" hidden>
    <p class="crumbs"><a href="/settings/keys">API keys</a></p>
    <div class="title">
      <h1 id="key-title" tabindex="-1"></h1>
      <p id="key-state"></p>
    </div>
    <div class="alert" id="key-failure" role="alert" hidden></div>
    <div id="key-body" hidden>
      <p class="info" id="key-notice" hidden></p>
      <dl class="facts key-facts" id="key-facts"></dl>
      ${mayChange ? html`<p class="actions wide" id="key-actions"></p>` : undefined} ${USAGE_SECTION}
      <section id="key-requests" aria-labelledby="key-requests-title"></section>
      <section id="key-events" aria-labelledby="key-events-title"></section>
    </div>
  </section>`;
}

const USAGE_SECTION = html`<section id="usage" aria-labelledby="usage-title">
  <div class="heading">
    <h2 id="usage-title">Usage</h2>
    <fieldset class="switch">
      <legend class="unseen">Period</legend>
      <label><input type="radio" name="key-period" value="last_24h" checked />24 hours</label>
      <label><input type="radio" name="key-period" value="last_30d" />30 days</label>
    </fieldset>
  </div>
  <div class="alert" id="usage-failure" role="alert" hidden></div>
  <div id="usage-body" hidden>
    <p class="empty" id="no-usage" hidden></p>
    ${totals('total', { id: 'mcp', name: 'Over MCP' })}
    <div id="chart"></div>
    <p class="hint" id="usage-hint">
      Figures are up to a minute old; times are in UTC. Errors are requests that failed, except with status 429.
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
    <div id="usage-parts">
      <h3 id="operations-title">By operation</h3>
      <table class="rows numbers" aria-labelledby="operations-title">
        ${columns(...BY_OPERATION)}
        <tbody id="usage-operations"></tbody>
      </table>
      <p class="hint">Times to answer are estimated, and without requests that got a 429.</p>
      <div id="usage-errors">
        <h3 id="codes-title">By error code</h3>
        <table class="rows numbers codes" aria-labelledby="codes-title">
          ${columns('Error code', 'Requests')}
          <tbody id="usage-codes"></tbody>
        </table>
      </div>
    </div>
  </div>
</section>`;
