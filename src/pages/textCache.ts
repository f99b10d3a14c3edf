import { gunzipSync, gzipSync } from 'node:zlib';
import type { Request, Response } from 'express';
import { entityTag } from '../schema/entityTags';
import type { Html } from './html';
import { visibleDemoKey } from './page';
import type { Site } from './site';

/** A text that does not change while the gateway runs; `make` is called at its first visit. */
export interface Text {
  /** Its type, as for Express's `response.type`: `html`, `text/markdown`. */
  readonly type: string;
  readonly make: () => string;
  /** Whether it has a key, and must not be written to disk. */
  readonly isPrivate?: boolean;
}

/** Returns a function that sends texts, each of which is made once for its name and cached compressed: later visits of browsers, all of which accept gzip, cost no more than sending it. */
export function createTextSender() {
  const cache = new Map<string, { readonly zipped: Buffer; readonly tag: string }>();

  function entryOf(name: string, make: () => string) {
    const known = cache.get(name);
    if (known) return known;
    const bytes = Buffer.from(make());
    const entry = { zipped: gzipSync(bytes), tag: entityTag(bytes) };
    cache.set(name, entry);
    return entry;
  }

  return (request: Request, response: Response, name: string, { type, make, isPrivate = false }: Text): void => {
    const { zipped, tag } = entryOf(name, make);
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

/** Returns a function that sends pages, each cached by its path: one for visitors who may see the demo's key, which `make` gets, and one for all others. */
export function createPageSender(site: Site, demoKey: string | undefined) {
  const send = createTextSender();
  return (request: Request, response: Response, path: string, make: (key: string | undefined) => Html): void => {
    const key = visibleDemoKey(request, demoKey);
    const isPrivate = key !== undefined;
    const name = isPrivate ? `${path} with key` : path;
    send(request, response, name, { type: 'html', isPrivate, make: () => site.textOf(make(key)) });
  };
}
