import { AppError } from '../errors';
import { type MasterSecret, WrongSecretError } from '../webhooks/masterSecret';
import type { Sender } from '../webhooks/sending';
import { NO_SECRET } from '../webhooks/settings';

/** What signs and sends webhooks, with the master secret (WEBHOOK_SECRET) that it signs by. */
export interface Signing {
  readonly sender: Sender;
  readonly secret: MasterSecret;
}

/** @throws AppError unavailable without WEBHOOK_SECRET */
export function requireSigning(signing: Signing | undefined): Signing {
  if (!signing) throw new AppError('unavailable', `${NO_SECRET}.`, { reason: 'webhooks' });
  return signing;
}

/** @throws AppError unavailable for a WrongSecretError; any other error unchanged */
export function rethrowWrongSecret(error: unknown): never {
  if (!(error instanceof WrongSecretError)) throw error;
  throw new AppError('unavailable', `${error.message}.`, { reason: 'webhooks' });
}
