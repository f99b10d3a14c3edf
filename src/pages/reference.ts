import { referencePolicy } from './contentSecurity';
import { html, jsonBlock } from './html';
import { KEY_FORM, LOADING, type Page } from './page';

/** `/api/v1/docs`: the REST reference, Swagger UI over the published OpenAPI document, with a list of its operations and samples. */
export const reference: Page = {
  path: '/api/v1/docs',
  policy: referencePolicy,
  title: 'REST reference · Scopegate',
  description: 'Every route of the Scopegate REST API, with a client to try them.',
  current: '/api/v1/docs',
  kind: 'reference',
  styles: ['vendor/swagger-ui.css', 'key.css', 'reference/list.css', 'reference/samples.css'],
  scripts: ['repairs.js', 'vendor/swagger-ui.js'],
  module: 'reference.js',
  body: (visit) =>
    html`<h1 class="unseen" id="title">REST reference</h1>
      ${KEY_FORM}
      <div class="columns">
        <nav id="operations" aria-label="Operations">
          <div class="search">
            <label class="unseen" for="search">Search operations</label>
            <input
              id="search"
              type="search"
              placeholder="Name, path, error code"
              aria-keyshortcuts="/"
              autocomplete="off"
              spellcheck="false"
            />
            <p class="unseen" role="status"></p>
            <p class="none" hidden>
              No operation matches <b></b>. Error codes are listed at <a href="/errors">/errors</a>, webhooks are
              explained at <a href="/webhooks">/webhooks</a>.
              <button class="own-button" type="button">Clear search</button>
            </p>
            <p class="lost" role="alert"></p>
          </div>
        </nav>
        <div id="reference">
          ${LOADING}
          <noscript
            ><p class="notice">
              The reference needs JavaScript. The OpenAPI document is at
              <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.
            </p></noscript
          >
        </div>
      </div>
      ${jsonBlock('settings', { document: '/api/v1/openapi.json', key: visit.demoKey })}`,
};
