import { createHmac } from 'node:crypto';
import { parseKey, secretOf, writeKey } from './keys';

/*
 * Codes and refresh tokens of connected apps (docs/decisions/oauth.md). All are shaped like keys, so that they need no lookup to be refused, and
 * the log hides them. A code is a key with a prefix of its own; a refresh token is one whose secret is that of the connection, followed by `_` and
 * the secret of the rotation. Rows have digests. `prefix` is everywhere that of access tokens (KEY_PREFIX_APP).
 */

/** The secret of the rotation: as long as that of a key (keys.ts). */
const ROTATION = /_([0-9A-Za-z]{43})$/;

const codePrefix = (prefix: string): string => `${prefix}code_`;
const refreshPrefix = (prefix: string): string => `${prefix}refresh_`;

export const writeCode = (prefix: string, id: string, secret: string): string =>
  writeKey(codePrefix(prefix), id, secret);

export const parseCode = (prefix: string, text: string) => parseKey(text, codePrefix(prefix));

export interface RefreshToken {
  /** Of the key that the connection is. */
  readonly id: string;
  /** The secret of the connection, which all its refresh tokens share. */
  readonly family: string;
  /** The secret of the rotation. */
  readonly secret: string;
}

export const writeRefreshToken = (prefix: string, { id, family, secret }: RefreshToken): string =>
  `${writeKey(refreshPrefix(prefix), id, family)}_${secret}`;

export function parseRefreshToken(prefix: string, text: string): RefreshToken | undefined {
  const secret = ROTATION.exec(text)?.[1];
  const key = secret === undefined ? undefined : parseKey(text.slice(0, -1 - secret.length), refreshPrefix(prefix));
  return key && secret !== undefined ? { id: key.id, family: key.secret, secret } : undefined;
}

/**
 * The secrets of the next access and refresh token, from the secret that is exchanged for them and the row's seed: whoever repeats an exchange
 * gets the same, and neither part alone gives them away.
 */
export function nextSecrets(exchanged: string, seed: string): { readonly access: string; readonly refresh: string } {
  const derive = (use: string): string => secretOf(createHmac('sha256', exchanged).update(`${use} ${seed}`).digest());
  return { access: derive('access'), refresh: derive('refresh') };
}
