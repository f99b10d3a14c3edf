import type { Attempt } from './openid';

export type { Attempt } from './openid';

/* A sign-in on its way, as the value of a cookie. */

export function writeAttempt({ state, nonce, verifier }: Attempt): string {
  return [state, nonce, verifier].join('.');
}

/** Undefined for whatever is none: the library's texts are base64url, 43 characters each. */
export function readAttempt(text: string | undefined): Attempt | undefined {
  const [, state, nonce, verifier] = /^([\w-]{43})\.([\w-]{43})\.([\w-]{43})$/.exec(text ?? '') ?? [];
  return state && nonce && verifier ? { state, nonce, verifier } : undefined;
}
