import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { digestOf } from '../auth/digest';
import { createAttemptLimit, type RateLimiter } from '../admission/rateLimit';
import { type Config, publicPath } from '../config';
import type { Exchange } from '../http/exchange';
import { type Session, SESSION_LIMITS, type Sessions } from '../organisations/sessions';
import { isToken } from '../organisations/signInTokens';
import { AppError } from '../errors';

type CookieOptions = Pick<Config, 'PUBLIC_URL'> & Partial<Pick<Config, 'FRAME_ANCESTORS'>>;

/**
 * A cookie of the settings pages (the session, or a sign-in in progress), for this host only. Over https its name begins with
 * `__Host-`, so that no other host of the domain can set it; browsers then require the path `/`, so a path of PUBLIC_URL is in the name,
 * which keeps gateways at one host apart. So is whether it is partitioned: browsers keep both kinds of one name, and send both.
 */
export function createCookie(name: string, { PUBLIC_URL, FRAME_ANCESTORS = [] }: CookieOptions) {
  const isSecure = PUBLIC_URL?.startsWith('https:') === true;
  const path = encodeURIComponent(publicPath({ PUBLIC_URL }));
  const isFramed = FRAME_ANCESTORS.length > 0;
  // in a frame of another site browsers send only such a cookie, and only within frames of the site in whose frame it was set
  const site = isFramed ? 'None; Partitioned' : 'Lax';
  const fullName = `${isSecure ? '__Host-' : ''}${name}${isFramed ? '_framed' : ''}${path}`;
  const attributes = `Path=/; HttpOnly; SameSite=${site}${isSecure ? '; Secure' : ''}`;
  return {
    read({ headers }: IncomingMessage): string | undefined {
      const pairs = (headers.cookie ?? '').split(';').map((pair) => pair.trim());
      return pairs.find((pair) => pair.startsWith(`${fullName}=`))?.slice(fullName.length + 1);
    },
    /** `value` is a token or base64url, which needs no quotes. */
    set(response: ServerResponse, value: string, seconds: number): void {
      response.appendHeader('Set-Cookie', `${fullName}=${value}; Max-Age=${String(seconds)}; ${attributes}`);
    },
    clear(response: ServerResponse): void {
      response.appendHeader('Set-Cookie', `${fullName}=; Max-Age=0; ${attributes}`);
    },
  };
}

export type BrowserSessions = ReturnType<typeof createBrowserSessions>;

/** How many valid sessions are remembered, at most. */
const MAX_KNOWN = 10_000;

/** Finds the sessions of browsers by their cookie. `failures` limits, per address, cookies that have no session. */
export function createBrowserSessions(
  config: Pick<Config, 'PUBLIC_URL' | 'FRAME_ANCESTORS'>,
  sessions: Pick<Sessions, 'find'>,
  failures: RateLimiter,
) {
  const sessionCookie = createCookie('scopegate_session', config);
  const limitedAttempt = createAttemptLimit(failures, 'session', 'Too many invalid sessions from this address');
  // hashes of the tokens of sessions that were valid when last looked up: these are found even if others at the same address have used up its attempts
  const validIds = new LRUCache<string, true>({ max: MAX_KNOWN, ttl: SESSION_LIMITS.absolute });
  return {
    cookie: sessionCookie,
    /** Whether the browser has the cookie of a session, which may have ended. */
    hasToken: (request: IncomingMessage): boolean => isToken(sessionCookie.read(request) ?? ''),
    /** The session of a request and its token; undefined if nobody is signed in. @throws AppError rate_limited */
    async find({ request, address }: Pick<Exchange, 'request' | 'address'>) {
      const token = sessionCookie.read(request);
      if (token === undefined || !isToken(token)) return undefined;
      const id = digestOf(token);
      const findSession = (): Promise<Session | undefined> => sessions.find(token);
      const session = await (validIds.has(id) ? findSession() : limitedAttempt(address, findSession));
      if (session) validIds.set(id, true);
      else validIds.delete(id);
      return session && { token, session };
    },
  };
}

/* Protection against cross-site request forgery. */

interface OpenSession {
  readonly token: string;
  readonly session: Session;
}

/** A session's CSRF token. It depends on the organisation, so that a page of live data cannot act on the sandbox, or the reverse. */
export function csrfToken({ token, session: { organisation } }: OpenSession): string {
  return createHmac('sha256', token).update(`csrf ${organisation.id}`).digest('base64url');
}

/** Whether a token is the session's CSRF token. */
export function isCsrf(token: unknown, session: OpenSession): boolean {
  const expected = Buffer.from(csrfToken(session));
  const actual = Buffer.from(typeof token === 'string' ? token : '');
  return actual.length === expected.length && timingSafeEqual(actual, expected);
}

/** @throws AppError forbidden unless the token is the session's CSRF token */
export function checkCsrf(token: unknown, session: OpenSession): void {
  if (!isCsrf(token, session))
    throw new AppError('forbidden', 'The CSRF token is missing or invalid. Reload the page.');
}

/** @throws AppError forbidden for a change requested by a page of another origin; non-browser callers send no Origin */
export function checkOrigin({ headers }: IncomingMessage, publicUrl: string | undefined): void {
  const { origin } = headers;
  const site = headers['sec-fetch-site'];
  const isOwn =
    origin === undefined ||
    (publicUrl === undefined
      ? URL.canParse(origin) && new URL(origin).host === headers.host
      : origin === new URL(publicUrl).origin);
  if (isOwn && (site === undefined || site === 'same-origin' || site === 'none')) return;
  throw new AppError('forbidden', 'Cross-site requests are not allowed.');
}
