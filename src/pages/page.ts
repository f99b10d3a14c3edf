import type { IncomingMessage } from 'node:http';
import type { RequestHandler } from 'express';
import { localHost } from '../http/requestHead';
import { type Html, html, type LayoutOptions } from './html';
import helmet from 'helmet';

type Directives = Readonly<Record<string, readonly string[]>>;

/** The origin of Apollo Sandbox's frame. */
export const SANDBOX_FRAME = 'https://sandbox.embed.apollographql.com';

// no upgrade-insecure-requests: over plain http on a local network it would break every asset
const BASE: Directives = {
  'default-src': ["'none'"],
  'script-src': ["'self'"],
  'style-src': ["'self'"],
  'img-src': ["'self'"],
  'font-src': ["'self'"],
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** Sets headers of every response. A page that needs more than files of its own origin sets its own policy afterwards. */
export const defaultHeaders: RequestHandler = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: BASE },
  xFrameOptions: { action: 'deny' },
  // the rest of the domain is not ours
  strictTransportSecurity: { includeSubDomains: false },
});

/** Pages that use only our own files. */
export const ownPolicy: RequestHandler = policy({});

/** Settings: our own files, and forms to sign in and out; other origins may show them in a frame. */
export function settingsPolicy(frameAncestors: readonly string[]): RequestHandler {
  const isFramed = frameAncestors.length > 0;
  const set = policy({ 'form-action': ["'self'"], ...(isFramed && { 'frame-ancestors': frameAncestors }) });
  return (request, response, next) => {
    // this header cannot name origins, and browsers that know frame-ancestors ignore it
    if (isFramed) response.removeHeader('X-Frame-Options');
    set(request, response, next);
  };
}

/** For a page with a form whose answer sends the browser to another address; `target` is its origin, or its scheme with `:`. */
export const formPolicy = (target: string): RequestHandler => policy({ 'form-action': ["'self'", target] });

/** Apollo Sandbox: our own files, and its frame. */
export const sandboxPolicy: RequestHandler = policy({ 'frame-src': [SANDBOX_FRAME] });

/** GraphiQL: CodeMirror adds style elements, and its style sheet has images as data URLs. */
export const graphiqlPolicy: RequestHandler = policy({
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
});

/** The base policy with some directives replaced. */
function policy(replaced: Directives): RequestHandler {
  return helmet.contentSecurityPolicy({ useDefaults: false, directives: { ...BASE, ...replaced } });
}

/** What a page's contents depend on. */
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
 * The Authorization header that a tool starts with. web/key.js detects it by its ellipsis, which no header can contain, and fills in
 * the visitor's key.
 */
export const AUTHORIZATION = 'Bearer svc_live_…';

/** The demo's key, if this visitor may see it: only on the machine itself. */
export function visibleDemoKey(request: IncomingMessage, demoKey: string | undefined): string | undefined {
  return localHost(request) === undefined ? undefined : demoKey;
}

/**
 * Where a visitor types the key that the reference and the GraphQL tools use. web/key.js does the rest, and enables the button. Without
 * it the key cannot be sent: Enter does nothing, the form's method sends nothing, and the field has no name.
 */
export const KEY_FORM: Html = html`<form id="key" class="key" method="dialog" aria-label="API key">
  <div class="key-part">
    <label for="typed">API key</label>
    <input
      class="input"
      id="typed"
      type="password"
      autocomplete="off"
      spellcheck="false"
      placeholder="svc_live_…"
      required
    />
    <button class="button" type="submit" disabled>Use key</button>
    <span class="key-hint">Kept in this tab only.</span>
  </div>
  <div class="key-part" hidden>
    <span>API key</span>
    <output></output>
    <button class="button" type="button">Forget key</button>
  </div>
  <p role="status"></p>
</form>`;

/** Shown in a page until its script draws it. */
export const LOADING: Html = html`<p class="notice loading" role="status">Loading…</p>`;
