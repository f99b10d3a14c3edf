import { version } from '../package';
import { asset, type Bundle, iconSprite } from './assets';

/** Safe HTML, created only by the `html` tag. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Html[] | undefined;

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Builds HTML. Every value except Html is escaped for text and quoted attributes; `undefined` renders nothing. */
export function html(literals: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const pieces = literals.map((literal, index) => literal + render(parts[index]));
  return new Html(pieces.join(''));
}

/** Data for a script, as a JSON block: it is not executed, so the Content-Security-Policy allows it. */
export function jsonBlock(id: string, data: unknown): Html {
  // `</script>` or `<!--` in a string would end or hide the block
  const text = JSON.stringify(data).replaceAll('<', '\\u003c');
  return html`<script type="application/json" id="${id}">
    ${new Html(text)}
  </script>`;
}

/** Renders the parts of a text in `backticks` as code. */
export function withCode(text: string): readonly Html[] {
  return text.split('`').map((piece, index) => (index % 2 === 1 ? html`<code>${piece}</code>` : html`${piece}`));
}

function render(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map((piece) => piece.text).join('');
  return String(part).replace(/[&<>"']/g, (character) => ESCAPES[character] ?? character);
}

/** One of the icons in web/icons.svg. */
export function icon(name: string): Html {
  return html`<svg class="icon" aria-hidden="true"><use href="#icon-${name}"></use></svg>`;
}

export interface LayoutOptions {
  /** Of the page, before the name of the site; the landing page has none. */
  readonly title?: string;
  readonly description: string;
  /** Path of the navigation entry to mark as current. */
  readonly current?: string;
  readonly body: Html;
  /** The page's scripts and styles (tools/build.js); `prose` by default. */
  readonly bundle?: Bundle;
}

const NAVIGATION = [
  { path: '/api/v1/docs', label: 'REST' },
  { path: '/graphql', label: 'GraphQL' },
  { path: '/guides', label: 'Guides' },
  { path: '/errors', label: 'Errors' },
  { path: '/settings/integrations', label: 'Settings' },
] as const;

/* Marks for which `textOf` (site.ts) puts in the site's own; text cannot contain them, since its < is escaped. */
export const SITE_NAME = new Html('<!--name-->');
export const SITE_HOME = new Html('<!--home-->');
export const SITE_LOGO = new Html('<!--logo-->');
export const SITE_HEAD = new Html('<!--head-->');

/** A document around `body`, with marks for what differs between sites. */
export function layout(options: LayoutOptions): Html {
  const { title, description, current, body, bundle = 'prose' } = options;
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="description" content="${description}" />
        <title>${title === undefined ? undefined : `${title} · `}${SITE_NAME}</title>
        ${SITE_HEAD}
        <link rel="stylesheet" href="${asset(`${bundle}.css`)}" />
        <script type="module" src="${asset(`${bundle}.js`)}"></script>
      </head>
      <body>
        <div hidden>${new Html(iconSprite())}</div>
        <a class="skip" href="#content">Skip to content</a>
        <header class="bar">
          <a class="brand" href="${SITE_HOME}">${SITE_LOGO}<span>${SITE_NAME}</span></a>
          <nav id="main-menu" aria-label="Main" popover>
            ${NAVIGATION.map((entry) => navigationLink(entry, current))}
          </nav>
          ${SEARCH} ${MENU}
        </header>
        <main id="content" tabindex="-1">${body}</main>
        ${
          // a tool fills the window, so there is no footer
          bundle === 'sandbox' || bundle === 'graphiql'
            ? undefined
            : html`<footer>
                <p>
                  Scopegate ${version} · <a href="/api/v1/openapi.json">OpenAPI document</a> ·
                  <a href="/graphiql">GraphiQL</a> · <a href="/llms.txt">llms.txt</a>
                </p>
              </footer>`
        }
      </body>
    </html> `;
}

/** Opens the search (web/search.ts), which enables it: its place in the bar is the same before. */
const SEARCH = html`<button class="button find" type="button" id="find" disabled>
  ${icon('search')} <span>Search</span> <kbd aria-hidden="true">Ctrl K</kbd>
</button>`;

/** Opens the links of the bar where they have no room beside each other (web/bar.css). */
const MENU = html`<button class="button menu-open" type="button" popovertarget="main-menu" aria-label="Menu">
  ${icon('menu')}
</button>`;

function navigationLink({ path, label }: { path: string; label: string }, current: string | undefined): Html {
  return path === current
    ? html`<a href="${path}" aria-current="page">${label}</a>`
    : html`<a href="${path}">${label}</a>`;
}
