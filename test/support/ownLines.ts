import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/* Imported before anything of Scopegate: a folder that adds members to objects inside records, lists, and a name that is an id in one type only. */

process.env.SCHEMA_DIR = mkdtempSync(join(tmpdir(), 'scopegate-own-'));
writeFileSync(
  join(process.env.SCHEMA_DIR, 'orders.graphql'),
  `extend type OrderLine { "Weight in kg." weight: Float @constraint(min: 0) "Id of a code." code: ID }
   extend type Order {
     "Tags." tags: [String!] @personal(erased: false) "Code." code: String @personal(erased: false) "Ids of marks." mark_ids: [ID!]
     "Boxes." boxes: [Box!] @personal(erased: false)
   }
   "Box." type Box { "Parts." parts: [BoxPart!] }
   "Part." type BoxPart { "Packs." packs: [BoxPack!] }
   "Pack." type BoxPack { "Labels." labels: [BoxLabel!] }
   "Label." type BoxLabel { "Text." text: String "Size." size: Float }`,
);
