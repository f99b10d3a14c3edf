import { referencePolicy } from './contentSecurity';
import { html, jsonBlock } from './html';
import type { Page } from './page';

/** `/api/v1/docs`: the REST reference, Swagger UI over the published OpenAPI document. */
export const reference: Page = {
  path: '/api/v1/docs',
  policy: referencePolicy,
  title: 'REST reference · Scopegate',
  description: 'Every route of the Scopegate REST API, with a client to try them.',
  current: '/api/v1/docs',
  kind: 'reference',
  styles: ['vendor/swagger-ui.css'],
  scripts: ['repairs.js', 'vendor/swagger-ui.js'],
  module: 'reference.js',
  body: (visit) =>
    html`<section aria-labelledby="title"><h1 class="unseen" id="title">REST reference</h1></section>
      <div id="reference">
        <noscript
          ><p class="notice">
            The reference needs JavaScript. The OpenAPI document is at
            <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.
          </p></noscript
        >
      </div>
      ${jsonBlock('settings', { document: '/api/v1/openapi.json', key: visit.demoKey })}`,
};
