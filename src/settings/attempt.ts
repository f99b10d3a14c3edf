import type { Attempt } from './openid';

export type { Attempt } from './openid';

/* A sign-in in progress, stored in a cookie. */

export function writeAttempt({ state, nonce, verifier }: Attempt): string {
  return [state, nonce, verifier].join('.');
}

/** Undefined if malformed: the library's values are base64url, 43 characters each. */
export function readAttempt(text: string | undefined): Attempt | undefined {
  const [, state, nonce, verifier] = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/.exec(text ?? '') ?? [];
  return state && nonce && verifier ? { state, nonce, verifier } : undefined;
}
