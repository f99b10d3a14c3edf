import type { Answer } from '../support/client';

/** Sent with requests whose answers must be identical. */
export const SAME_ID = { 'x-request-id': 'the-same-id' };

/** What a caller sees of an answer, except the date and the rate limit. */
export function seen({ status, headers, text }: Answer): {
  status: number;
  headers: Record<string, string>;
  text: string;
} {
  const others = [...headers].filter(([name]) => name !== 'date' && !/^(x-)?ratelimit/.test(name));
  return { status, headers: Object.fromEntries(others), text };
}
