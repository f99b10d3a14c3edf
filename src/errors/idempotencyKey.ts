import { type Fault, invalidRequest } from './index';

/** An Idempotency-Key: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY_FORM = /^[\x21-\x7e]{1,255}$/;

/** The fault of an Idempotency-Key that is empty, longer than 255 characters, or not visible ASCII; undefined if it has none. */
export function idempotencyKeyFault(key: string): Fault | undefined {
  if (IDEMPOTENCY_KEY_FORM.test(key)) return undefined;
  return { parameter: 'Idempotency-Key', code: 'format', detail: 'must be 1 to 255 visible ASCII characters' };
}

/** @throws AppError invalid_request for a key with a fault */
export function checkIdempotencyKey(key: string): string {
  const fault = idempotencyKeyFault(key);
  if (fault) throw invalidRequest([fault]);
  return key;
}
