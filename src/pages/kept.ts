import { gunzipSync, gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { entityTag } from '../schema/entityTags';

/** A text that does not change while the gateway runs. */
export interface Text {
  /** Express's name of its type, such as `html`. */
  readonly type: string;
  readonly make: () => string;
  /** Whether it has a key, and must not be written to disk. */
  readonly isPrivate?: boolean;
}

/** Sends texts, each of which is made at its first visit and kept compressed: later visits cost no more than sending it. */
export function createKept() {
  const kept = new Map<string, { readonly zipped: Buffer; readonly tag: string }>();

  function keptAs(name: string, make: () => string) {
    const known = kept.get(name);
    if (known) return known;
    const bytes = Buffer.from(make());
    const made = { zipped: gzipSync(bytes), tag: entityTag(bytes) };
    kept.set(name, made);
    return made;
  }

  return (request: Request, response: Response, name: string, { type, make, isPrivate = false }: Text): void => {
    const { zipped, tag } = keptAs(name, make);
    const isZipped = request.acceptsEncodings('gzip') === 'gzip';
    response
      .set('Cache-Control', isPrivate ? 'no-store' : 'no-cache')
      .vary('Accept')
      .vary('Accept-Encoding');
    // weak, since it is the same for all encodings
    response.set('ETag', `W/${tag}`).type(type);
    if (isZipped) response.set('Content-Encoding', 'gzip');
    response.send(isZipped ? zipped : gunzipSync(zipped));
  };
}
