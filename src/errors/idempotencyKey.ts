import { type Fault, invalidRequest } from './index';

/** The JSON Schema of an Idempotency-Key: 1 to 255 visible ASCII characters. */
export const IDEMPOTENCY_KEY_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^[\\x21-\\x7e]+$',
} as const;
const VISIBLE_ASCII = new RegExp(IDEMPOTENCY_KEY_SCHEMA.pattern);

/** The fault of an Idempotency-Key that is empty, longer than 255 characters, or not visible ASCII; undefined if it has none. */
export function idempotencyKeyFault(key: string): Fault | undefined {
  if (key.length <= IDEMPOTENCY_KEY_SCHEMA.maxLength && VISIBLE_ASCII.test(key)) return undefined;
  return { parameter: 'Idempotency-Key', code: 'format', detail: 'must be 1 to 255 visible ASCII characters' };
}

/** Returns the key. @throws AppError invalid_request if it has a fault */
export function checkIdempotencyKey(key: string): string {
  const fault = idempotencyKeyFault(key);
  if (fault) throw invalidRequest([fault]);
  return key;
}
