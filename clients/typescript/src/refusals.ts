import { ScopegateError } from './error.js';

/** How often a version may be refused that was read again each time, and how many objects are remembered. */
const [MOST, KEPT] = [3, 100];

interface Refused {
  readonly etag: string;
  readonly times: number;
  /** Whether a read has returned it since. */
  isReadAgain: boolean;
}

/**
 * Versions that changes were refused for, by the path of their object. Who reads again after a 412 and gets the same version would go on for
 * ever: something on the way alters its ETag, or answers reads from a cache.
 */
export class RefusedVersions {
  readonly #refused = new Map<string, Refused>();

  noteRead(path: string, etag: string): void {
    const refused = this.#refused.get(path);
    if (refused?.etag === etag) refused.isReadAgain = true;
    else this.#refused.delete(path);
  }

  /** The error to end with: that of the answer, or one that says that reading again does not help. */
  noteRefusal(path: string, etag: string, error: ScopegateError): ScopegateError {
    const last = this.#refused.get(path);
    const times = last?.etag === etag && last.isReadAgain ? last.times + 1 : 1;
    // the one that was refused last is the last
    this.#refused.delete(path);
    if (times === MOST) {
      const detail = `${path} still has the ETag ${etag} that the gateway refused ${String(MOST)} times. A proxy on the way alters it, or answers reads from a cache.`;
      const { status, title, requestId } = error;
      return new ScopegateError({
        status,
        title,
        code: 'etag_refused',
        detail,
        ...(requestId && { request_id: requestId }),
      });
    }
    this.#refused.set(path, { etag, times, isReadAgain: false });
    for (const oldest of this.#refused.keys()) if (this.#refused.size > KEPT) this.#refused.delete(oldest);
    return error;
  }
}
