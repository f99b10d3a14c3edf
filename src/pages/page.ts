import type { RequestHandler } from 'express';
import type { Html } from './html';

/** What a page is rendered with. */
export interface Visit {
  readonly version: string;
  readonly introspection: 'public' | 'key' | 'off';
  /** The demo's key; undefined if the visitor may not see it. */
  readonly demoKey: string | undefined;
}

/** One page of the site. */
export interface Page {
  readonly path: string;
  /** Sets the page's Content-Security-Policy. */
  readonly policy: RequestHandler;
  readonly render: (visit: Visit) => Html;
  /** Methods other than GET and HEAD that other parts of the server handle at this path, for `Allow`. */
  readonly otherMethods?: readonly string[];
}

/** Placeholder for a key that the visitor has to enter. The scripts detect it by its ellipsis, which no header can contain. */
const KEY_PLACEHOLDER = 'svc_live_…';

/** The Authorization header that a tool starts with. */
export function authorizationOf(visit: Visit): string {
  return `Bearer ${visit.demoKey ?? KEY_PLACEHOLDER}`;
}
