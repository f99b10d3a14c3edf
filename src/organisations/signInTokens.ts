import { randomBytes } from 'node:crypto';

/* The tokens of links, invitations and sessions, which are stored nowhere: rows have their digests. */

/** 256 random bits in 43 characters. */
export const makeToken = (): string => randomBytes(32).toString('base64url');

/** Whether a string could be a token; anything else is rejected without a lookup. */
export const isToken = (text: string): boolean => /^[\w-]{43}$/.test(text);

/** The one-time sign-in URL for the token of a link or an invitation; `base` is the gateway's URL. */
export function signInUrl(base: string, token: string): string {
  return `${base}/settings/sign-in?link=${token}`;
}
