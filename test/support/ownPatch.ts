import { appendFileSync, cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/*
 * Imported before anything of Scopegate: the folder that `scopegate schema init` writes, whose invoices can be given to another customer and paid in part or by another customer,
 * have an external_ref of the caller's, and lines with marks, and items and an address with what is never null; tasks that only a PATCH changes, whose answer is never null; and
 * rules for threads and products.
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
      const marks = `"Marks." marks: [InvoiceMark${isInput ? 'Input' : ''}!] ${isInput ? '@constraint(max_items: 7000)' : ''}`;
      return `"Part." ${kind} { "Id." id: ID${isInput ? '' : '!'} ${isLine ? marks : '"Text." text: String @constraint(max_length: 9)'} }`;
    })
    .join('\n'),
);
add('invoices.graphql', 'Due date.', '"Paid so far."\npaid_minor: Minor');
add('invoices.graphql', 'Sum of the totals, in minor units.', '"Paid so far."\npaid_minor: Minor!');
for (const file of ['invoices.graphql', 'invoicesBulk.graphql'])
  add(file, 'Due date; null for none.', '"Paid so far."\npaid_minor: Minor');
add('invoices.graphql', 'Due date.', '"Id of yours."\nexternal_ref: String @personal(erased: false)');
add(
  'invoicesBulk.graphql',
  'Due date; null for none.',
  '"Id of yours."\nexternal_ref: String @constraint(min_length: 1, max_length: 200)',
);
add('invoices.graphql', 'Due date.', '"Items."\nitems: [InvoiceItem!] @personal(erased: false)');
add('invoices.graphql', 'Due date.', '"Where to."\naddress: InvoiceAddress @personal');
for (const file of ['invoices.graphql', 'invoicesBulk.graphql']) {
  add(file, 'Due date; null for none.', '"Items."\nitems: [InvoiceItemInput!] @constraint(max_items: 5)');
  add(file, 'Due date; null for none.', '"Where to."\naddress: InvoiceAddressInput');
}
writeFileSync(
  join(folder, 'items.graphql'),
  `"Item." type InvoiceItem { "Id." id: ID! "Place." position: Int! "SKU." sku: String! "How many." qty: Int! @default(value: 1) }
   "Item." input InvoiceItemInput { "SKU." sku: String @constraint(required: true, max_length: 9) "How many." qty: Int }
   "Address." type InvoiceAddress { "Street." street: String! "Floor." floor: String }
   "Address." input InvoiceAddressInput {
     "Street." street: String @constraint(required: true, max_length: 99)
     "Floor." floor: String @constraint(max_length: 9)
   }`,
);
writeFileSync(
  join(folder, 'tasks.graphql'),
  `extend enum Scope { "List and read tasks." TASKS_READ "Change tasks." TASKS_WRITE }
   extend type Query {
     "List tasks."
     tasks("Order." sort: String @constraint(one_of: ["created_at", "weight", "-weight", "urgent", "-urgent"]), "Page size." limit: Int @constraint(min: 1, max: 100, default: 3), "Cursor." cursor: String @constraint(max_length: 2048)): TaskPage
       @rest(path: "/tasks") @access(scope: TASKS_READ)
     "Get a task." task("Id." id: ID!): Task @rest(path: "/tasks/:id") @access(scope: TASKS_READ)
   }
   extend type Mutation {
     "Change a task."
     update_task("Id." id: ID!, "Steps." steps: [TaskStepInput!] @constraint(max_items: 5), "Who else." include: String @constraint(max_length: 9)): Task!
       @rest(method: PATCH, path: "/tasks/:id") @access(scope: TASKS_WRITE)
   }
   "A task." type Task @stored(collection: "tasks") {
     "Id." id: ID! "Steps." steps: [TaskStep!] @constraint(max_items: 5) "State." state: String! @default(value: "open") @constraint(one_of: ["open", "done"]) "Who else." include: String "Kilograms." weight: Float! "Whether it cannot wait." urgent: Boolean! "When it was created." created_at: DateTime! "When it last changed." updated_at: DateTime!
   }
   "Tasks." type TaskPage { "Tasks." data: [Task!]! "More." has_more: Boolean! "Cursor." next_cursor: String }
   "Step." type TaskStep { "Id." id: ID! "Place." position: Int! "Title." title: String! "When." at: DateTime "How long." minutes: Int! @default(value: 5) }
   "Step." input TaskStepInput { "Title." title: String @constraint(required: true, max_length: 9) "When." at: DateTime "How long." minutes: Int }`,
);
add('invoices.graphql', 'Due date.', '"Id of who pays."\nbilling_customer_id: ID');
add(
  'invoices.graphql',
  'The customer.',
  '"Who pays."\nbilling_customer: Customer @graphql_only @access(scope: CUSTOMERS_READ)',
);
const TIME = '1996-07-04T00:00:00.000Z';
writeFileSync(
  join(folder, 'examples', 'tasks.json'),
  JSON.stringify({
    id: '0b5c3d1e-52d4-5b0a-9f7e-3a1c5e7d9b11',
    steps: null,
    state: 'open',
    include: null,
    weight: 2.5,
    urgent: false,
    created_at: TIME,
    updated_at: TIME,
  }),
);
writeFileSync(
  join(folder, 'contacts.graphql'),
  ['type Contact', 'input ContactInput', 'input ContactChange']
    .map((kind) => `extend ${kind} { "Title." title: String @constraint(max_length: 9) }`)
    .join('\n'),
);
writeFileSync(
  join(folder, 'requests.graphql'),
  'extend type Request { "How urgent it is." priority: String @default(value: "normal") @personal(erased: false) }',
);
appendFileSync(
  join(folder, 'rules.mjs'),
  `export const Request = ({ subject }, { fault }) => { if (subject === 'Ruled') fault('/subject', 'must be another'); };
   export const Customer = ({ name }, { fault }) => { if (name === 'Alfreds Futterkiste') fault('/name', 'is not served'); };
   export const Product = ({ category }, { fault }) => { if (category === 'Beverages') fault('/category', 'is not sold'); };`,
);
process.env.SCHEMA_DIR = folder;
