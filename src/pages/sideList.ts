import { html, type Html } from './html';

/** The list of links beside a page's text, folded on a narrow screen. It can have the focus, so that the arrow keys scroll it where it is long. */
export function sideList(label: string, entries: Html): Html {
  return html`<nav class="list" aria-label="${label}" tabindex="0">
    <details class="menu">
      <summary>Contents</summary>
      <div>${entries}</div>
    </details>
  </nav>`;
}

interface Entry {
  readonly href: string;
  readonly text: string;
  /** Shown at the right. */
  readonly mark?: Html;
  /** Its tooltip. */
  readonly title?: string;
}

/** Links of the list, of which that to `current` is marked. */
export function sideLinks(entries: readonly Entry[], current?: string): Html {
  return html`<ul>
    ${entries.map(
      ({ href, text, mark, title }) =>
        html`<li>
          <a
            href="${href}"
            ${title === undefined ? undefined : html`title="${title}"`}
            ${href === current ? html`aria-current="page"` : undefined}
            ><span>${text}</span> ${mark}</a
          >
        </li>`,
    )}
  </ul>`;
}
