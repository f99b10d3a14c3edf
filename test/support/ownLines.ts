import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/* Imported before anything of Scopegate: a folder that adds members to objects inside records, and a list. */

process.env.SCHEMA_DIR = mkdtempSync(join(tmpdir(), 'scopegate-own-'));
writeFileSync(
  join(process.env.SCHEMA_DIR, 'orders.graphql'),
  `extend type OrderLine { "Weight in kg." weight: Float @constraint(min: 0) }
   extend type Order { "Tags." tags: [String!] @personal(erased: false) }`,
);
