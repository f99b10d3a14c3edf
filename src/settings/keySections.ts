import { html, type Html } from '../pages/html';

/** The page of one key. */
export function keyPage(mayChange: boolean): Html {
  return html`<section data-page="key" aria-labelledby="key-title" hidden>
    <p class="crumbs"><a href="/settings/keys">API keys</a></p>
    <div class="title">
      <h1 id="key-title" tabindex="-1"></h1>
      <p id="key-state"></p>
    </div>
    <div class="alert" id="key-failure" role="alert" hidden></div>
    <div id="key-body" hidden>
      <p class="info" id="key-notice" hidden></p>
      <dl class="facts key-facts" id="key-facts"></dl>
      ${mayChange ? html`<p class="actions wide" id="key-actions"></p>` : undefined}
      <section id="usage" aria-labelledby="usage-title"></section>
      <section id="key-requests" aria-labelledby="key-requests-title"></section>
      <section id="key-events" aria-labelledby="key-events-title"></section>
    </div>
  </section>`;
}
