'use strict';

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

/**
 * Swagger UI prefills each field with its example, and all filters together match nothing. So the examples of optional
 * parameters are moved into their descriptions.
 */
function withoutPrefilledFilters(text) {
  const document = JSON.parse(text);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  for (const parameter of operations.flatMap((operation) => operation.parameters ?? [])) {
    if (parameter.required || parameter.example === undefined || parameter.schema?.default !== undefined) continue;
    parameter.description = `${parameter.description ?? ''} Example: \`${parameter.example}\``;
    delete parameter.example;
  }
  return JSON.stringify(document);
}

const filtersStayEmpty = {
  statePlugins: {
    spec: { wrapActions: { updateSpec: (update) => (text) => update(text && withoutPrefilledFilters(text)) } },
  },
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
  // no standalone preset, which would add a topbar
  presets: [window.SwaggerUIBundle.presets.apis],
  plugins: [filtersStayEmpty],
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
