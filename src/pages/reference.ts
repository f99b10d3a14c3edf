import { referencePolicy } from './contentSecurity';
import { html, type Html, jsonBlock } from './html';
import { layout } from './layout';
import type { Page, Visit } from './page';

/** `/api/v1/docs`: the REST reference, Swagger UI over the published OpenAPI document. */
export const reference: Page = { path: '/api/v1/docs', policy: referencePolicy, render };

function render(visit: Visit): Html {
  return layout({
    title: 'REST reference · Scopegate',
    description: 'Every route of the Scopegate REST API, with a client to try them.',
    version: visit.version,
    current: '/api/v1/docs',
    kind: 'reference',
    styles: ['vendor/swagger-ui.css'],
    scripts: ['repairs.js', 'vendor/swagger-ui.js', 'reference.js'],
    body: html`<section aria-labelledby="title"><h1 class="unseen" id="title">REST reference</h1></section>
      <div id="reference">
        <noscript
          ><p class="notice">
            The reference needs JavaScript. The OpenAPI document is at
            <a href="/api/v1/openapi.json">/api/v1/openapi.json</a>.
          </p></noscript
        >
      </div>
      ${jsonBlock('settings', { document: '/api/v1/openapi.json', ...(visit.demoKey === undefined ? {} : { key: visit.demoKey }) })}`,
  });
}
