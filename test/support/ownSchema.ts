import { join } from 'node:path';

/* Imported before anything of Scopegate: a gateway with the folder that `scopegate schema init` writes. */

process.env.SCHEMA_DIR = join(__dirname, '..', '..', 'examples', 'schema');
