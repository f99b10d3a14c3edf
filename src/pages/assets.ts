import { dirname, join } from 'node:path';
import express, { type Router } from 'express';

/** This project's own assets; the path works from both src/pages and dist/pages, since tsc copies no assets. */
const PUBLIC = join(__dirname, '..', '..', 'public');
const GRAPHIQL = packageFolder('graphiql');
const REACT = join(packageFolder('react'), 'umd');
const REACT_DOM = join(packageFolder('react-dom'), 'umd');
const SWAGGER_UI = packageFolder('swagger-ui-dist');

const ONE_DAY_MS = 24 * 60 * 60 * 1000;

/** An allowlist of the files below /assets, so that nothing else in a package can be read. */
const FILES: Readonly<Record<string, { readonly root: string; readonly file: string }>> = {
  'style.css': { root: PUBLIC, file: 'style.css' },
  'prose.css': { root: PUBLIC, file: 'prose.css' },
  'tool.css': { root: PUBLIC, file: 'tool.css' },
  'reference.css': { root: PUBLIC, file: 'reference.css' },
  'favicon.svg': { root: PUBLIC, file: 'favicon.svg' },
  'landing.js': { root: PUBLIC, file: 'landing.js' },
  'sandbox.js': { root: PUBLIC, file: 'sandbox.js' },
  'graphiql.js': { root: PUBLIC, file: 'graphiql.js' },
  'repairs.js': { root: PUBLIC, file: 'repairs.js' },
  'reference.js': { root: PUBLIC, file: 'reference.js' },
  'settings.css': { root: PUBLIC, file: 'settings/settings.css' },
  'settings/settings.js': { root: PUBLIC, file: 'settings/settings.js' },
  'settings/api.js': { root: PUBLIC, file: 'settings/api.js' },
  'settings/audit.js': { root: PUBLIC, file: 'settings/audit.js' },
  'settings/chart.js': { root: PUBLIC, file: 'settings/chart.js' },
  'settings/dialogs.js': { root: PUBLIC, file: 'settings/dialogs.js' },
  'settings/dom.js': { root: PUBLIC, file: 'settings/dom.js' },
  'settings/keys.js': { root: PUBLIC, file: 'settings/keys.js' },
  'vendor/graphiql.css': { root: GRAPHIQL, file: 'graphiql.min.css' },
  'vendor/graphiql.js': { root: GRAPHIQL, file: 'graphiql.min.js' },
  'vendor/react.js': { root: REACT, file: 'react.production.min.js' },
  'vendor/react-dom.js': { root: REACT_DOM, file: 'react-dom.production.min.js' },
  'vendor/swagger-ui.css': { root: SWAGGER_UI, file: 'swagger-ui.css' },
  'vendor/swagger-ui.js': { root: SWAGGER_UI, file: 'swagger-ui-bundle.js' },
};

/** Serves the files above with an ETag. Files from packages may be cached for a day; our own are revalidated every time. */
export function assets(): Router {
  const router = express.Router({ caseSensitive: true });
  for (const [name, { root, file }] of Object.entries(FILES)) {
    const caching = root === PUBLIC ? { maxAge: 0 } : { maxAge: ONE_DAY_MS };
    router.get(`/${name}`, (_request, response) => {
      // with `root`, a parent folder that begins with a dot (as in npx's cache) is not treated as hidden
      response.sendFile(file, { root, acceptRanges: false, ...caching });
    });
  }
  return router;
}

/** Paths of all assets, relative to the mount point. */
export const ASSET_NAMES: readonly string[] = Object.keys(FILES);

function packageFolder(name: string): string {
  return dirname(require.resolve(`${name}/package.json`));
}
