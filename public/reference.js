import { errorsInOneLine, headersOnRequest } from './reference/answers.js';
import { readable } from './reference/document.js';
import { askBeforeExamples } from './reference/writes.js';

const settings = JSON.parse(document.getElementById('settings').textContent);
const dark = matchMedia('(prefers-color-scheme: dark)');

function showScheme() {
  document.documentElement.classList.toggle('dark-mode', dark.matches);
}

/** The document's name for the security scheme with a bearer key. */
function bearerScheme(ui) {
  const schemes = ui.specSelectors.specJson().toJS().components?.securitySchemes ?? {};
  return Object.keys(schemes).find((name) => schemes[name].type === 'http' && schemes[name].scheme === 'bearer');
}

const readableDocument = {
  statePlugins: { spec: { wrapActions: { updateSpec: (update) => (text) => update(text && readable(text)) } } },
};

showScheme();
dark.addEventListener('change', showScheme);

const ui = window.SwaggerUIBundle({
  url: settings.document,
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  tryItOutEnabled: true,
  persistAuthorization: false,
  validatorUrl: null,
  // enough contrast for WCAG AA
  syntaxHighlight: { theme: 'tomorrow-night' },
  // no standalone preset, which would add a topbar
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [readableDocument, errorsInOneLine, headersOnRequest, askBeforeExamples],
  layout: 'BaseLayout',
  onComplete: () => {
    const scheme = bearerScheme(ui);
    if (settings.key && scheme) ui.preauthorizeApiKey(scheme, settings.key);
  },
});

// Swagger UI handles every fragment as its own, and would take the focus back
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('content').focus();
});
