import { appendFileSync, cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Imported before anything of Scopegate: the folder that `scopegate schema init` writes, whose invoices can be given to another customer, and
 * have lines with marks, and a rule for threads.
 */

const folder = mkdtempSync(join(tmpdir(), 'scopegate-own-'));
cpSync(join(__dirname, '..', '..', 'examples', 'schema'), folder, { recursive: true });

/** Puts SDL before the first of the lines with a description. */
function add(file: string, description: string, sdl: string): void {
  const path = join(folder, file);
  const line = `"${description}"\n`;
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(line, () => `${sdl}\n${line}`),
  );
}
add('invoices.graphql', 'Due date; null for none.', '"Id of the customer; null for none."\ncustomer_id: ID');
add('invoices.graphql', 'Due date; null for none.', '"Lines."\nlines: [InvoiceLineInput!] @constraint(max_items: 5)');
add('invoices.graphql', 'Due date.', '"Lines."\nlines: [InvoiceLine!] @personal(erased: false)');
add(
  'invoicesBulk.graphql',
  'Due date; null for none.',
  '"Lines."\nlines: [InvoiceLineInput!] @constraint(max_items: 5)',
);
writeFileSync(
  join(folder, 'lines.graphql'),
  ['type InvoiceLine', 'input InvoiceLineInput', 'type InvoiceMark', 'input InvoiceMarkInput']
    .map((kind) => {
      const [isInput, isLine] = [kind.startsWith('input'), kind.includes('Line')];
      const marks = `"Marks." marks: [InvoiceMark${isInput ? 'Input' : ''}!] ${isInput ? '@constraint(max_items: 5)' : ''}`;
      return `"Part." ${kind} { "Id." id: ID${isInput ? '' : '!'} ${isLine ? marks : '"Text." text: String @constraint(max_length: 9)'} }`;
    })
    .join('\n'),
);
writeFileSync(
  join(folder, 'contacts.graphql'),
  ['type Contact', 'input ContactInput', 'input ContactChange']
    .map((kind) => `extend ${kind} { "Title." title: String @constraint(max_length: 9) }`)
    .join('\n'),
);
appendFileSync(
  join(folder, 'rules.mjs'),
  "export const Request = ({ subject }, { fault }) => { if (subject === 'Ruled') fault('/subject', 'must be another'); };",
);
process.env.SCHEMA_DIR = folder;
