import { html, type Html } from './html';
import { tokensOf } from './tokens';

/** Placeholder in samples for the address of the gateway. The page's script fills in that which the browser uses, since a proxy may have changed it. */
export const ORIGIN = 'http://127.0.0.1:4000';

/** A block of code under a visible name, with a copy button that appears once the page's script runs; `label` is its name for assistive technology. */
export function codeBlock(name: Html, label: string, text: string): Html {
  return html`<div class="code">
    <div class="code-bar"><span>${name}</span> ${COPY}</div>
    ${pre(label, text)}
  </div>`;
}

/** The button that copies the code of its block. */
export const COPY: Html = html`<button class="button" type="button" data-copy hidden>Copy</button>`;

/** A block's code; `label` is its name for assistive technology. */
export function pre(label: string, text: string): Html {
  return html`<pre tabindex="0" aria-label="${label}"><code>${highlighted(text)}</code></pre>`;
}

function highlighted(text: string): readonly Html[] {
  return tokensOf(text).map((token) =>
    token.kind === undefined ? html`${token.text}` : html`<span class="${token.kind}">${withOrigin(token.text)}</span>`,
  );
}

function withOrigin(text: string): readonly Html[] {
  const [start = '', ...rest] = text.split(ORIGIN);
  return [html`${start}`, ...rest.map((piece) => html`<span data-origin>${ORIGIN}</span>${piece}`)];
}
