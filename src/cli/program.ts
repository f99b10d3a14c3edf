import { Argument, type Command, Option } from 'commander';
import { version } from '../package';
import { ownFolder, useFolder } from '../sdl/folder';
import { addAudit } from './audit';
import { addEvents } from './events';
import { ExplainedCommand, loadVariables, ORG_ID } from './help';
import { addKey } from './key';
import { addLogs } from './logs';
import { addOrg } from './org';
import { addRestored } from './restored';
import { addSchema } from './schema';
import { addServe } from './serve';
import { print } from './terminal';
import { loadScopes, port, uuid } from './values';
import { addWebhook } from './webhook';

/** The command line. A command's implementation is loaded when it runs, which keeps --help fast. */
export function createProgram(): ExplainedCommand {
  const program = new ExplainedCommand('scopegate')
    .description(
      "An organisation's quotes, products, orders, customers and request threads as GraphQL and REST, behind scoped API keys.",
    )
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command]', 'show help for a command')
    .exitOverride()
    .hook('preSubcommand', loadVariables)
    .hook('preSubcommand', loadScopes)
    .hook('preAction', prepareSchema)
    // inherited by the commands
    .showHelpAfterError('(use --help for usage)');
  addDemo(program);
  addServe(program);
  addOrg(program);
  addKey(program);
  addWebhook(program);
  addAudit(program);
  addLogs(program);
  addEvents(program);
  addRecords(program);
  addCustomer(program);
  addSandbox(program);
  addOpenapi(program);
  addSchema(program);
  addDoctor(program);
  addRestored(program);
  return program
    .listSubcommandsOnError()
    .examples(['scopegate demo', 'scopegate org create --name "Acme Ltd"', 'scopegate help key create'])
    .addHelpText('after', '\nConfiguration comes from environment variables; see scopegate serve --help.');
}

/** Uses the folder of --schema, if given, and refuses a user's schema that is wrong, before a command's modules are made from it. */
async function prepareSchema(_program: Command, command: Command): Promise<void> {
  const { schema } = command.opts<{ readonly schema?: string }>();
  if (schema !== undefined) useFolder(schema);
  // `schema check` and `diff` say what is wrong by themselves, and `init` uses no folder
  const mayBeWrong = command.parent?.name() === 'schema' && command.name() !== 'print';
  if (ownFolder() === undefined || mayBeWrong) return;
  // rules only for the demo, which stores the examples: one that compares with the time may refuse them later, and must not keep a gateway from starting
  await (await import('./schema/own.js')).refuseFolder({ runsRules: command.name() === 'demo' });
}

function addDemo(program: ExplainedCommand): void {
  program
    .subcommand('demo', 'start a gateway with example data, and print an API key and commands to try')
    .option('--port <port>', 'port to listen on (default: PORT, or the next free one from 4000)', port)
    .schema()
    .option('--json', 'print {url, key, organisation, sandbox, settings} as JSON when ready')
    .environment()
    .examples(
      ['scopegate demo', 'scopegate demo --port 8080'],
      [
        'The example data (Northwind Traders) is loaded once and stays in DATA_DIR. So does the key, in the file demo-key; the next',
        'start prints it again if it is still valid. INTROSPECTION defaults to public and LOG_LEVEL to warn. Press Ctrl-C to stop.',
      ],
      true,
    )
    .run(async () => (await import('./demo.js')).demoCommand);
}

/** Import and export. */
function addRecords(program: ExplainedCommand): void {
  program
    .subcommand('import', 'load NDJSON files into an organisation; safe to run again')
    .argument(
      '<path>',
      'folder with {products,customers,quotes,orders,requests}.ndjson (any of them, and of your own types), one such file, or - for standard input',
    )
    .org()
    .option(
      '--type <type>',
      'what is in a single file: products, customers, quotes, orders, requests or a collection of your own; - needs it',
    )
    .addOption(
      new Option('--stamp <stamp>', 'updated_at of what is created or changed: now, or that of the file').choices([
        'now',
        'file',
      ]),
    )
    .option('--delete-missing', 'delete what a file does not have, if every line of it is valid; needs --yes')
    .option('--yes', 'delete it, instead of saying how much that is')
    .option(
      '--organisation',
      'give an organisation without data what organisation.json says: name, plan, currency, external_ref, suspension',
    )
    .option('--keys', 'also load keys.ndjson, as written by export --keys; needs the same KEY_PEPPER and KEY_PREFIX')
    .option(
      '--webhooks',
      'also load webhooks.ndjson, as written by export --webhooks, disabled; needs the same WEBHOOK_SECRET',
    )
    .json('{files: {products: {read, created, updated, unchanged, failed, deleted?, missing?}, …}, errors}')
    .examples(
      [
        `scopegate import --org ${ORG_ID} examples/northwind`,
        `scopegate import --org ${ORG_ID} orders.ndjson 2> faults.txt`,
        `zcat orders.gz | scopegate import --org ${ORG_ID} - --type orders`,
      ],
      [
        'Each line is one JSON record, as written by scopegate export. Every line is checked. Invalid lines are reported on stderr',
        'as file:line: pointer: message, valid ones are stored, and the exit code is 1 if any line was invalid. After Ctrl-C,',
        'completed batches stay stored; run the command again to continue.',
        '',
        'Without --stamp it is now once a key of the organisation has read changes with updated_since, which would miss changes dated back;',
        'before that it is that of the file. Use --stamp file to restore a backup.',
        '',
        'What --delete-missing deletes is gone with its events saying so. A program that writes to - must not end early: what it did not',
        'write is deleted.',
        '',
        'If the folder has an organisation.json, nothing is imported if the currencies differ.',
        '',
        'Webhook endpoints keep their ids and secrets, so receivers need not change. They are imported disabled, so that a copy of an organisation',
        'does not post beside it: enable them with scopegate webhook enable ID, with --from now to leave out the events of the import.',
      ],
    )
    .run(async () => (await import('./import/command.js')).importCommand);

  program
    .subcommand('export', "write an organisation's data to files that import can read, and organisation.json")
    .argument('<dir>', 'folder to write to; created if missing')
    .org()
    .option('--keys', 'also write the keys: their hashes and the fingerprint of KEY_PEPPER, no secrets')
    .option(
      '--webhooks',
      'also write the webhook endpoints: their URLs and the fingerprint of WEBHOOK_SECRET, no secrets',
    )
    .option('--force', 'overwrite existing files')
    .json('{dir, files: {products: 77, …}}')
    .examples(
      [
        `scopegate export --org ${ORG_ID} backup`,
        `scopegate export --org ${ORG_ID} backup --keys --webhooks --force --json`,
      ],
      [
        'Nothing is written unless everything is. What a killed export has written so far is removed by the next one to the same folder.',
      ],
    )
    .run(async () => (await import('./export/command.js')).exportCommand);
}

function addCustomer(program: ExplainedCommand): void {
  const customer = program.subcommand('customer', "erase a customer's personal data, or let it be written again");
  customer
    .subcommand(
      'erase',
      "erase one customer's personal data for good: name, contacts, email, phone, addresses, and the copies in quotes, orders, request threads and your own types",
    )
    .id('the customer')
    .org()
    .requiredOption('--confirm <name>', 'name of the customer, to confirm that it is the right one')
    .option('--json', 'print {id, erased} as JSON, with the number of rows changed by collection')
    .examples(
      [`scopegate customer erase 4fe3db78-fae6-5e29-978f-54799d0ea0d1 --org ${ORG_ID} --confirm "Alfreds Futterkiste"`],
      [
        'Ids, external_ref, numbers, amounts and times are kept, as accounting law requires. Subjects and texts of request threads are',
        'replaced as a whole. Texts in members that the schema does not have (any more) are removed from what refers to the customer. If it',
        'is interrupted, run it again to continue. Backups and exports are not changed. Afterwards, writes of the customer fail with the code',
        'erased, until scopegate customer readmit. Messages that still arrive in its threads are stored: run this again to erase them.',
      ],
    )
    .run(async () => (await import('./erase.js')).eraseCustomerCommand);
  customer
    .subcommand('readmit', 'let an erased customer be written again; each member stays erased until it is next sent')
    .argument('<ref>', 'external_ref or id of the customer')
    .org()
    .json('{id, external_ref}')
    .examples(
      [`scopegate customer readmit ALFKI --org ${ORG_ID}`],
      [
        'If its erasure was interrupted, complete that first by scopegate customer erase: what it left in orders and threads stays otherwise,',
        'and a later erasure would erase what was written since, too.',
      ],
    )
    .run(async () => (await import('./erase.js')).readmitCustomerCommand);
  customer.listSubcommandsOnError();
}

function addSandbox(program: ExplainedCommand): void {
  const sandbox = program.subcommand(
    'sandbox',
    'play the part of the product in a sandbox (make one with org create --sandbox-of)',
  );
  sandbox
    .subcommand('advance', 'give a quote or an order of a sandbox another status, and the times that go with it')
    .addArgument(new Argument('<kind>', 'what to advance').choices(['quote', 'order']))
    .argument('<number>', 'its number')
    .argument('<status>', 'the new status, as the API names it')
    .org()
    .json('{id, number, status, from}')
    .examples(
      [
        `scopegate sandbox advance --org ${ORG_ID} quote Q-10248 accepted`,
        `scopegate sandbox advance --org ${ORG_ID} order SO-10248 dispatched`,
      ],
      ['Any status can follow any other. Events and webhooks are sent as if the product had made the change.'],
    )
    .run(async () => (await import('./sandbox.js')).advance);
  sandbox.listSubcommandsOnError();
}

function addOpenapi(program: ExplainedCommand): void {
  program
    .subcommand('openapi', 'print the OpenAPI 3.1 document of the REST API; no database needed')
    .option('--json', 'accepted for consistency; the document is JSON anyway')
    .examples(['scopegate openapi > openapi.json', 'npx openapi-typescript openapi.json -o api.d.ts'])
    .action(async () => {
      const { keyDocument } = await import('../openapi/index.js');
      const { readConfig } = await import('../config/index.js');
      const { PUBLIC_URL, BRAND_NAME, BRAND_DESCRIPTION } = readConfig();
      print(JSON.stringify(keyDocument(PUBLIC_URL, BRAND_NAME, BRAND_DESCRIPTION), undefined, 2));
    });
}

function addDoctor(program: ExplainedCommand): void {
  program
    .subcommand('doctor', 'check the environment, the database, Redis, the indexes and the files, and suggest fixes')
    .option('--fix', 'create missing indexes, drop what only versions before this one need, and set validators')
    .option('--production', 'also check what production needs and a gateway starts without')
    .option('--rows', 'read every row instead, and name those that cannot be shown or found by search')
    .option('--org <id>', 'with --rows: of one organisation only', uuid)
    .json(
      '{ok, checks: [{name, ok, detail, fix?, objects?}]}, or with --rows {ok, organisations, rows, left, fixed, found}',
    )
    .environment()
    .examples(
      [
        'scopegate doctor',
        'scopegate doctor --fix',
        'scopegate doctor --production',
        'scopegate doctor --rows --fix --json',
      ],
      [
        '--rows looks for what another program has stored: values that the API cannot show, missing search words, wrong counters. With --fix',
        'it corrects what follows from the rest or can mean one thing only: search words, counters, numbers stored as text or Decimal128, days',
        'stored as dates, times stored as text, members with a @default that rows lack. It names the first 1,000 rows, and ends with 1 if rows',
        'are left.',
        '',
        'The names that the folder of SCHEMA_DIR adds are recorded. --fix replaces them with those of this folder, or with none if SCHEMA_DIR is none:',
        'processes are then no longer warned or refused for lacking the others. Run it with the folder that the gateways have.',
      ],
    )
    .run(async () => (await import('./doctor/command.js')).doctorCommand);
}
