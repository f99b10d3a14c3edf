import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Version of the package. */
export const version = (JSON.parse(readFileSync(join(__dirname, '..', 'package.json'), 'utf8')) as { version: string })
  .version;
