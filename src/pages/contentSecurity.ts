import type { RequestHandler } from 'express';
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
  'connect-src': ["'self'"],
  'base-uri': ["'none'"],
  'form-action': ["'none'"],
  'frame-ancestors': ["'none'"],
};

/** Headers for every response; pages that need more than same-origin files relax the policy themselves. */
export const defaultHeaders: RequestHandler = helmet({
  contentSecurityPolicy: { useDefaults: false, directives: BASE },
  xFrameOptions: { action: 'deny' },
  // the rest of the domain is not ours
  strictTransportSecurity: { includeSubDomains: false },
});

/** Pages that use only our own files. */
export const ownPolicy: RequestHandler = policy({});

/** Settings: our own files, and forms to sign in and out. */
export const settingsPolicy: RequestHandler = policy({ 'form-action': ["'self'"] });

/** Apollo Sandbox: our own files, and its frame. */
export const sandboxPolicy: RequestHandler = policy({ 'frame-src': [SANDBOX_FRAME] });

/** GraphiQL: CodeMirror adds style elements, and its style sheet has fonts and images as data URLs. */
export const graphiqlPolicy: RequestHandler = policy({
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'font-src': ['data:'],
});

/** Swagger UI: its style sheet has images as data URLs. */
export const referencePolicy: RequestHandler = policy({ 'img-src': ["'self'", 'data:'] });

function policy(loosened: Directives): RequestHandler {
  return helmet.contentSecurityPolicy({ useDefaults: false, directives: { ...BASE, ...loosened } });
}
