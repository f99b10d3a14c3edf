import { hash, timingSafeEqual } from 'node:crypto';

/**
 * SHA-256, base64url: what is stored of the secrets of apps, links and sessions, which are too long to guess, and what caches keep in place of a
 * string from a caller: that may be an API key, and even a short slice of it keeps the whole header, up to 16 KiB, in memory.
 */
export function digestOf(text: string): string {
  return hash('sha256', text, 'base64url');
}

/** Whether a digest is that of a text, in constant time. */
export function isDigestOf(text: string, digest: string): boolean {
  const [given, stored] = [Buffer.from(digestOf(text)), Buffer.from(digest)];
  // timingSafeEqual throws if the lengths differ
  return given.length === stored.length && timingSafeEqual(given, stored);
}
