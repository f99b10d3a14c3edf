import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the package: this file is in src, or bundled into a file in dist. */
export const ROOT = join(__dirname, '..');

/** Set by the build (tools/build.js); missing where the source runs. */
declare const REVISION: string | undefined;

/** The commit that the program was built from; undefined if the build did not know it. */
export const revision = typeof REVISION === 'undefined' ? undefined : REVISION;

export const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
