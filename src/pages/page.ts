import type { RequestHandler } from 'express';
import type { Html } from './html';

/** What a page may know of the visit it is rendered for. */
export interface Visit {
  readonly version: string;
  readonly introspection: 'public' | 'key' | 'off';
  /** The demo's key; undefined where the visitor may not see it. */
  readonly demoKey: string | undefined;
}

/** One page of the site. */
export interface Page {
  readonly path: string;
  /** Sets the page's Content-Security-Policy. */
  readonly policy: RequestHandler;
  readonly render: (visit: Visit) => Html;
  /** Methods for `Allow` that other parts of the server answer at this path, besides GET and HEAD. */
  readonly otherMethods?: readonly string[];
}

/** Stands for a key that the visitor has yet to fill in. Its ellipsis cannot be sent in a header, which the scripts rely on. */
const KEY_PLACEHOLDER = 'svc_live_…';

/** The Authorization header that a tool starts with. */
export function authorizationOf(visit: Visit): string {
  return `Bearer ${visit.demoKey ?? KEY_PLACEHOLDER}`;
}
