import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The package version. */
export const version = (JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')) as { version: string })
  .version;
