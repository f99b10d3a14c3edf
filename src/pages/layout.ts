import { version } from '../package';
import { html, type Html } from './html';

export interface LayoutOptions {
  readonly title: string;
  readonly description: string;
  /** Path of the navigation entry to mark as current. */
  readonly current?: string;
  readonly body: Html;
  /** A tool fills the window below the bar and has no footer. Default prose. */
  readonly kind?: 'prose' | 'settings' | 'reference' | 'tool';
  /** Names below /assets, loaded in this order between the common style sheet and the one of the kind. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  /** Name of an ES module below /assets. */
  readonly module?: string;
}

const NAVIGATION = [
  { path: '/api/v1/docs', label: 'REST' },
  { path: '/graphql', label: 'GraphQL' },
  { path: '/errors', label: 'Errors' },
  { path: '/settings/integrations', label: 'Settings' },
] as const;

/** A complete document around `body`. */
export function layout(options: LayoutOptions): Html {
  const { title, description, current, body, kind = 'prose', styles = [], scripts = [], module } = options;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${description}" />
        <title>${title}</title>
        <link rel="icon" type="image/svg+xml" href="/assets/favicon.svg" />
        <link rel="stylesheet" href="/assets/style.css" />
        ${[...styles, `${kind}.css`].map((name) => html`<link rel="stylesheet" href="/assets/${name}" /> `)}${scripts.map((name) => html`<script defer src="/assets/${name}"></script> `)}${module === undefined ? undefined : html`<script type="module" src="/assets/${module}"></script>`}
      </head>
      <body>
        <a class="skip" href="#content">Skip to content</a>
        <header class="bar">
          <a class="brand" href="/">${LOGO}<span>Scopegate</span></a>
          <nav aria-label="Main">${NAVIGATION.map((entry) => navigationLink(entry, current))}</nav>
        </header>
        <main id="content" tabindex="-1">${body}</main>
        ${
          kind === 'tool'
            ? undefined
            : html`<footer>
                <p>
                  Scopegate ${version} · <a href="/api/v1/openapi.json">OpenAPI document</a> ·
                  <a href="/graphiql">GraphiQL</a>
                </p>
              </footer>`
        }
      </body>
    </html> `;
}

/** The logo: a gate with a keyhole, as in public/favicon.svg. */
const LOGO = html`<svg class="logo" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">
  <rect width="32" height="32" rx="8" />
  <path d="M7 25V14.5a9 9 0 0 1 18 0V25" fill="none" stroke-width="2.6" stroke-linecap="round" />
  <circle cx="16" cy="16.2" r="2.9" />
  <path d="M16 17.5 18.2 25h-4.4z" />
</svg>`;

function navigationLink({ path, label }: { path: string; label: string }, current: string | undefined): Html {
  return path === current
    ? html`<a href="${path}" aria-current="page">${label}</a>`
    : html`<a href="${path}">${label}</a>`;
}
