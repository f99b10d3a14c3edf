import type { Answer } from '../support/client';

/** Sent with requests whose answers are compared, so that nothing in them may differ. */
export const SAME_ID = { 'x-request-id': 'the-same-id' };

/** All that a caller sees of an answer but the clock and the budget. */
export function seen({ status, headers, text }: Answer): {
  status: number;
  headers: Record<string, string>;
  text: string;
} {
  const others = [...headers].filter(([name]) => name !== 'date' && !/^(x-)?ratelimit/.test(name));
  return { status, headers: Object.fromEntries(others), text };
}
