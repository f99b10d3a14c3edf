import type { Principal } from '../auth/principal';
import { type AppError, findAppError, type UnavailableReason } from '../errors';
import { describeError } from '../log';

/** Why a request is unavailable, as its log line says it. */
export interface Unavailable {
  readonly reason: UnavailableReason;
  readonly cluster?: string | undefined;
  /** What its caller was told. */
  readonly detail: string;
  /** What went wrong with the database, without a stack, since there may be thousands a second. */
  readonly error?: Omit<ReturnType<typeof describeError>, 'stack'>;
}

/** An exchange. */
interface Unserved {
  readonly log: { readonly principal?: Principal; unavailable?: Unavailable };
}

/** Notes why a request, or one of its fields, is unavailable; the first reason stays. `error` is what was thrown. */
export function noteUnavailable({ log }: Unserved, known: AppError, error: unknown): void {
  const { reason = 'away', cluster = log.principal?.organisation.cluster } = known.extras;
  const { stack: _, ...failure } = describeError(error);
  const isMeant = findAppError(error) !== undefined;
  log.unavailable ??= { reason, cluster, detail: known.detail, ...(!isMeant && { error: failure }) };
}
