import './style.css';
import './key.css';
import './reference/list.css';
import './reference/documented.css';
import './reference/operation.css';
import './code.css';
import './reference.css';
import './repairs.js';
import SwaggerUI from 'swagger-ui-dist/swagger-ui-bundle.js';
import { at } from './base';
import { onKey } from './key.js';
import { errorsInOneLine, headersOnRequest, responsesOnRequest } from './reference/answers.js';
import { requestColumn } from './reference/column';
import { readable } from './reference/document.js';
import { followReading } from './reference/current.js';
import { tellsWhatIsOpen, withoutItsOwnBars } from './reference/layout.js';
import { openLinked } from './reference/links.js';
import { drawList, operationsOf } from './reference/list';
import { resolvesLocally } from './reference/resolve.js';
import { withIdempotencyKey } from './reference/request';

const SCHEME = 'api_key';
const settings = JSON.parse(document.getElementById('settings').textContent);

// Swagger UI handles every fragment as its own, and would take the focus back
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('content').focus();
});

const answer = await fetch(at(settings.document));
const spec = await answer.json();
const operations = operationsOf(spec);
const list = drawList(operations);

const ui = SwaggerUI({
  spec: readable(spec),
  dom_id: '#reference',
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  tryItOutEnabled: true,
  persistAuthorization: false,
  validatorUrl: null,
  requestInterceptor: withIdempotencyKey,
  syntaxHighlight: { activated: false },
  // no standalone preset, which would add a topbar
  presets: [SwaggerUI.presets.apis],
  plugins: [
    resolvesLocally,
    withoutItsOwnBars,
    tellsWhatIsOpen((ids) => list.markOpen(ids)),
    errorsInOneLine,
    headersOnRequest,
    responsesOnRequest,
    requestColumn,
  ],
  layout: 'OurLayout',
  onComplete: () => {
    let isAuthorized = false;
    onKey(({ key, scopes }) => {
      if (key) ui.preauthorizeApiKey(SCHEME, key);
      else if (isAuthorized) ui.authActions.logout([SCHEME]);
      isAuthorized = key !== undefined;
      list.markScopes(scopes);
    });
    openLinked(ui, operations);
    followReading((id) => list.markCurrent(id));
  },
});

addEventListener('hashchange', () => openLinked(ui, operations));
// the link of what is open changes no fragment
document.getElementById('operations').addEventListener('click', (event) => {
  const link = event.target.closest('a');
  if (link?.hash === location.hash) openLinked(ui, operations);
});
