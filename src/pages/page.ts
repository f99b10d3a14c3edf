import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { isNear } from '../http/near';
import { type Html, html } from './html';
import type { LayoutOptions } from './layout';

/** What a page is rendered with. */
export interface Visit {
  /** Who may introspect the GraphQL schema. */
  readonly introspection: 'public' | 'key' | 'off';
  /** The demo's key; undefined if the visitor may not see it. */
  readonly demoKey?: string | undefined;
}

/** One page of the site. */
export interface Page extends Omit<LayoutOptions, 'body'> {
  readonly path: string;
  /** Sets the page's Content-Security-Policy. */
  readonly policy: RequestHandler;
  readonly body: (visit: Visit) => Html;
  /** Methods other than GET and HEAD that other parts of the server handle at this path, for `Allow`. */
  readonly otherMethods?: readonly string[];
}

/**
 * The Authorization header that a tool starts with. public/key.js detects it by its ellipsis, which no header can contain, and fills in
 * the visitor's key.
 */
export const AUTHORIZATION = 'Bearer svc_live_…';

const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;

/**
 * The demo's key, if this visitor may see it: only on the machine itself. The Host header can be forged, so the
 * connection must also come from loopback, and not through a proxy that identifies itself.
 */
export function visibleDemoKey(request: IncomingMessage, demoKey: string | undefined): string | undefined {
  return LOOPBACK_HOST.test(request.headers.host ?? '') && isNear(request, ['loopback']) ? demoKey : undefined;
}

/**
 * Where a visitor types the key that serves the reference and the explorer; public/key.js does the rest. Before it is loaded, Enter does
 * nothing: the method is one that sends nothing, and a field without a name is never sent.
 */
export const KEY_FORM: Html = html`<form id="key" class="key" method="dialog" aria-label="API key">
  <div class="key-part">
    <label for="typed">API key</label>
    <input id="typed" type="password" autocomplete="off" spellcheck="false" placeholder="svc_live_…" required />
    <button class="own-button" type="submit">Use key</button>
    <span class="key-hint">Kept in this tab only.</span>
  </div>
  <div class="key-part" hidden>
    <span>API key</span>
    <output></output>
    <button class="own-button" type="button">Forget key</button>
  </div>
  <p role="status"></p>
</form>`;

/** What stands in the place of a page until its scripts draw it. */
export const LOADING: Html = html`<p class="notice loading" role="status">Loading…</p>`;
