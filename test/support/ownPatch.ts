import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/* Imported before anything of Scopegate: the folder that `scopegate schema init` writes, whose invoices can be given to another customer. */

const folder = mkdtempSync(join(tmpdir(), 'scopegate-own-'));
cpSync(join(__dirname, '..', '..', 'examples', 'schema'), folder, { recursive: true });
const file = join(folder, 'invoices.graphql');
const text = readFileSync(file, 'utf8');
const change = '"Due date; null for none."';
writeFileSync(file, text.replace(change, `"Id of the customer; null for none."\n    customer_id: ID\n    ${change}`));
process.env.SCHEMA_DIR = folder;
