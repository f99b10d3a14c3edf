import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import express, { type RequestHandler, type Router } from 'express';
import { ROOT } from '../package';

/** The folder that tools/build.js builds from web/. */
const FOLDER = join(ROOT, 'dist', 'web');
/** In seconds. */
const YEAR = 31_536_000;

/** The name of a page's script and style sheet, built by tools/build.js. */
export type Bundle = 'prose' | 'sandbox' | 'graphiql' | 'reference' | 'guides' | 'settings' | 'signIn';

let names: Readonly<Record<string, string>> | undefined;

/** The names, with a hash, under which the built files are served, by their own: `settings.js` as `settings-HASH.js`. @throws Error if nothing was built */
export function assetNames(): Readonly<Record<string, string>> {
  try {
    names ??= JSON.parse(readFileSync(join(FOLDER, 'names.json'), 'utf8')) as Readonly<Record<string, string>>;
    return names;
  } catch (cause) {
    throw new Error(`The pages are not built: run npm run build, which writes ${FOLDER}.`, { cause });
  }
}

/** The path of a built file, below that of the site. */
export const asset = (name: string): string => `/assets/${hashedName(name)}`;

function hashedName(name: string): string {
  const hashed = assetNames()[name];
  if (hashed === undefined) throw new Error(`The pages were built without ${name}: run npm run build.`);
  return hashed;
}

let icons: string | undefined;

/** The SVG whose symbols are the icons of the pages, `icon-NAME` (web/icons.svg). It goes into each document, so that icons need no request. */
export function iconSprite(): string {
  // HTML knows the namespace of svg by itself
  icons ??= readFileSync(join(FOLDER, hashedName('icons.svg')), 'utf8').replaceAll(/\n\s*| xmlns="[^"]*"/g, '');
  return icons;
}

/** Serves the built files, compressed as the browser accepts them. Their names change with their contents, so browsers may keep them. */
export function assets(): Router {
  const router = express.Router({ caseSensitive: true });
  for (const [name, hashed] of Object.entries(assetNames())) {
    router.get(`/${hashed}`, send(hashed, `public, max-age=${String(YEAR)}, immutable`));
    // under any other hash, for a page from a gateway of another version, while gateways are updated one by one
    router.get(new RegExp(`^/${name.replace('.', String.raw`-\w{8}\.`)}$`), send(hashed, 'no-cache'));
  }
  router.get('/licences.txt', (_request, response) => {
    response.sendFile('licences.txt', { root: FOLDER });
  });
  return router;
}

/** Serves a file, or the .br or .gz beside it, with this Cache-Control. */
function send(file: string, caching: string): RequestHandler {
  return (request, response) => {
    const encoding = request.acceptsEncodings('br') || request.acceptsEncodings('gzip');
    const ending = { br: '.br', gzip: '.gz' }[String(encoding)] ?? '';
    response.set('Cache-Control', caching).vary('Accept-Encoding').type(extname(file));
    const headers = encoding === false ? {} : { 'Content-Encoding': encoding };
    // with `root`, a parent folder that begins with a dot (as in npx's cache) is not treated as hidden
    response.sendFile(file + ending, { root: FOLDER, acceptRanges: false, cacheControl: false, headers });
  };
}
