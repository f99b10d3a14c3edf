import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the package; this file is in src, and in the one file of dist. */
export const ROOT = join(__dirname, '..');

/** The version of the package. */
export const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
