import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the package: this file is in src, or bundled into a file in dist. */
export const ROOT = join(__dirname, '..');

export const version = (JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string }).version;
