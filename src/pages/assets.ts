import { dirname, join } from 'node:path';
import express, { type Router } from 'express';
import { DAY } from '../units';
import { ROOT } from '../package';

const PUBLIC = join(ROOT, 'public');
const GRAPHIQL = packageFolder('graphiql');
const REACT = join(packageFolder('react'), 'umd');
const REACT_DOM = join(packageFolder('react-dom'), 'umd');
const SWAGGER_UI = packageFolder('swagger-ui-dist');
/** What tools/build.js bundles. */
const BUNDLED = join(ROOT, 'dist', 'vendor');

/** An allowlist of the files below /assets/vendor, so that nothing else in a package can be read. */
export const VENDOR: Readonly<Record<string, { readonly root: string; readonly file: string }>> = {
  'apollo-sandbox.js': { root: BUNDLED, file: 'apollo-sandbox.js' },
  'graphiql.css': { root: GRAPHIQL, file: 'graphiql.min.css' },
  'graphiql.js': { root: GRAPHIQL, file: 'graphiql.min.js' },
  'react.js': { root: REACT, file: 'react.production.min.js' },
  'react-dom.js': { root: REACT_DOM, file: 'react-dom.production.min.js' },
  'swagger-ui.css': { root: SWAGGER_UI, file: 'swagger-ui.css' },
  'swagger-ui.js': { root: SWAGGER_UI, file: 'swagger-ui-bundle.js' },
};

/** Serves our files and those above with an ETag. Files from packages may be cached for a day; ours are revalidated every time. */
export function assets(): Router {
  const router = express.Router({ caseSensitive: true });
  router.use(express.static(PUBLIC, { index: false, redirect: false, acceptRanges: false }));
  for (const [name, { root, file }] of Object.entries(VENDOR)) {
    router.get(`/vendor/${name}`, (_request, response) => {
      // with `root`, a parent folder that begins with a dot (as in npx's cache) is not treated as hidden
      response.sendFile(file, { root, acceptRanges: false, maxAge: DAY });
    });
  }
  return router;
}

function packageFolder(name: string): string {
  return dirname(require.resolve(`${name}/package.json`));
}
