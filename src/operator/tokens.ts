import { hash, timingSafeEqual } from 'node:crypto';
import { bearerToken, type RefusalReason } from '../auth/authenticate';
import { isInRanges } from '../auth/addresses';
import type { Config } from '../config';
import { AppError } from '../errors';

export interface TokenOptions {
  readonly config: Pick<Config, 'OPERATOR_TOKENS' | 'OPERATOR_ALLOW'>;
  /** Counts a failed authentication of an address. @throws AppError rate_limited if there are too many */
  readonly countFailure: (address: string) => Promise<unknown>;
}

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/**
 * Returns a function that resolves with the name of the token in an Authorization header, and calls `onRefused` if there is none, or the address
 * is not in OPERATOR_ALLOW. It throws AppError unauthenticated, the same for every reason; rate_limited.
 */
export function tokenAuthenticator({ config, countFailure }: TokenOptions) {
  const tokens = config.OPERATOR_TOKENS.map(({ name, secret }) => ({ name, digest: digestOf(secret) }));

  function findToken(authorization: string | undefined, address: string): { name: string } | { reason: RefusalReason } {
    if (authorization === undefined) return { reason: 'missing' };
    const secret = bearerToken(authorization);
    if (secret === undefined) return { reason: 'malformed' };
    const digest = digestOf(secret);
    // compares all of them, so that the time does not tell whether or which one matches
    const [match] = tokens.filter((token) => timingSafeEqual(token.digest, digest));
    if (!match) return { reason: 'unknown' };
    return isInRanges(address, config.OPERATOR_ALLOW) ? match : { reason: 'address' };
  }

  return async (
    authorization: string | undefined,
    address: string,
    onRefused?: (refusal: { readonly reason: RefusalReason }) => void,
  ): Promise<string> => {
    const result = findToken(authorization, address);
    if ('name' in result) return result.name;
    onRefused?.(result);
    await countFailure(address);
    throw new AppError('unauthenticated', 'A valid operator token is required: Authorization: Bearer <secret>.');
  };
}
