import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../support/client';
import { northwind } from '../support/factories';
import { eachWithTemplate } from '../support/templateFolder';

/* Mistakes in the files of a user's folder that are not SDL, and types that lack such a file. */

let folder: string;
eachWithTemplate((copy) => {
  folder = copy;
});

/** What a command refuses to start with. A process loads the rules once, so each call loads Scopegate again. */
async function errorsOf(runsRules = true): Promise<string[]> {
  jest.resetModules();
  const { useFolder } = await import('../../src/sdl/folder.js');
  useFolder(folder);
  try {
    return await (await import('../../src/cli/schema/own.js')).parsedFolderErrors(folder, { runsRules });
  } catch (error) {
    // what keeps the SDL from being read is thrown by the modules that read it
    return [(error as Error).message];
  }
}

test('rules are run over examples only where that is asked for', async () => {
  writeFileSync(
    join(folder, 'rules.mjs'),
    'export const Invoice = (_, { fault }) => { fault("", "is late"); [][0].a; };',
  );
  const file = join(folder, 'examples', 'invoices.json');
  expect(await errorsOf()).toEqual([
    `${file}: is late`,
    `${file}: the rule of Invoice threw TypeError: Cannot read properties of undefined (reading 'a')`,
  ]);
  expect(await errorsOf(false)).toEqual([]);
});

const ID = '0b5c3d1e-52d4-5b0a-9f7e-3a1c5e7d9b10';
const TIME = '1996-07-04T00:00:00.000Z';
const CONTACTS = [{ id: ID, primary: true }];
const CUSTOMER = { id: ID, external_ref: 'C', name: 'N', contacts: CONTACTS, created_at: TIME, updated_at: TIME };

const NORTHWIND = Object.fromEntries(
  ['customers', 'requests'].map((file) => [file, { ...(northwind(file)[0] as Json), metadata: { colour: 'red' } }]),
) as Record<'customers' | 'requests', Json>;

test('an example is a record as export writes it: metadata is an object, and a thread has its messages and no counters', async () => {
  for (const [file, record] of Object.entries(NORTHWIND))
    writeFileSync(join(folder, 'examples', `${file}.json`), JSON.stringify(record));
  expect(await errorsOf()).toEqual([]);
});

test.each([
  ['rules.mjs', '\nexport const Invoice = (', 'rules.mjs:2: cannot be loaded: SyntaxError'],
  ['rules.mjs', 'await 1; export const Invoice = () => {};', 'rules.mjs: cannot be loaded'],
  ['rules.mjs', '\nexport const Bill = () => {};', 'rules.mjs:2: exports Bill, which is not a type with @stored'],
  ['rules.mjs', '\nexport default { Invoice() {} };', 'rules.mjs:2: has export default: write export const Invoice'],
  ['rules.mjs', 'export const Message = () => {};', 'rules.mjs:1: exports Message, but messages have no rules'],
  ['rules.mjs', 'export const Invoice = 1;', 'rules.mjs:1: exports Invoice, which is not a function'],
  ['rules.mjs', 'export class Invoice {}', 'rules.mjs:1: exports Invoice, which is a class'],
  ['rules.mjs', 'export const Invoice = async () => {};', 'rules.mjs:1: exports Invoice, which is asynchronous'],
  ['examples/invoice.json', '{}', 'examples/invoice.json: is not read: write one of customers.json, '],
  ['examples/quotes.json', '{}', 'examples/quotes.json: /id: is required'],
  ['examples/invoices.json', '{', 'invoices.json: is not JSON'],
  ['examples/customers.json', JSON.stringify(CUSTOMER), 'examples/customers.json: /contacts/0/name: is required'],
  [
    'rules.mjs',
    'export const Invoice = (invoice, { fault }) => fault("/due_on", "must be set");',
    'examples/invoices.json: /due_on: must be set',
  ],
  ['examples/invoices.json', '[]', 'invoices.json: must be a JSON object'],
  [
    'examples/customers.json',
    JSON.stringify({ ...NORTHWIND.customers, name: 'N'.repeat(201), mine: 1 }),
    'examples/customers.json: /name: ',
  ],
  [
    'more.graphql',
    `type Note @stored(collection: "notes") { id: ID! created_at: DateTime! }
     type NotePage { data: [Note!]! has_more: Boolean! next_cursor: String }
     extend type Query {
       notes(limit: Int @constraint(min: 1, max: 100, default: 20), cursor: String @constraint(max_length: 2048)): NotePage
         @rest(path: "/notes") @access(scope: INVOICES_READ)
     }`,
    'notes.json: is missing',
  ],
])('%s: %j', async (file, text, sentence) => {
  writeFileSync(join(folder, file), text);
  expect((await errorsOf()).join('\n')).toContain(sentence);
});
