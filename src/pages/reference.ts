import { referencePolicy } from './contentSecurity';
import { html, jsonBlock } from './html';
import { KEY_FORM } from './keyForm';
import type { Page } from './page';

/** `/api/v1/docs`: the REST reference, Swagger UI over the published OpenAPI document, with a list of its operations and samples. */
export const reference: Page = {
  path: '/api/v1/docs',
  policy: referencePolicy,
  title: 'REST reference · Scopegate',
  description: 'Every route of the Scopegate REST API, with a client to try them.',
  current: '/api/v1/docs',
  kind: 'reference',
  styles: ['vendor/swagger-ui.css', 'key.css'],
  scripts: ['repairs.js', 'vendor/swagger-ui.js'],
  module: 'reference.js',
  body: (visit) =>
    html`<h1 class="unseen" id="title">REST reference</h1>
      ${KEY_FORM}
      <div class="columns">
        <nav id="operations" aria-label="Operations">
          <label class="unseen" for="search">Search operations</label>
          <input id="search" type="search" placeholder="Search by name or path" autocomplete="off" spellcheck="false" />
          <p class="unseen" role="status"></p>
        </nav>
        <div id="reference">
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
