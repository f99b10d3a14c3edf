import { Argument } from 'commander';
import { version } from '../package';
import { addAudit } from './audit';
import { addEvents } from './events';
import { ExplainedCommand, loadVariables, ORG_ID } from './help';
import { addKey } from './key';
import { addLogs } from './logs';
import { addOrg } from './org';
import { addServe } from './serve';
import { print } from './terminal';
import { port } from './values';
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
    // inherited by the commands
    .showHelpAfterError('(use --help for usage)');
  const access = [addDemo, addServe, addOrg, addKey, addWebhook, addAudit, addLogs];
  for (const add of [...access, addEvents, addRecords, addCustomer, addSandbox, addOpenapi, addDoctor]) add(program);
  return program
    .nameCommands()
    .examples(['scopegate demo', 'scopegate org create --name "Acme Ltd"', 'scopegate help key create'])
    .addHelpText('after', '\nConfiguration comes from environment variables; see scopegate serve --help.');
}

function addDemo(program: ExplainedCommand): void {
  program
    .subcommand('demo', 'start a gateway with example data, and print an API key and commands to try')
    .option('--port <port>', 'port to listen on (default: PORT, or the next free one from 4000)', port)
    .option('--json', 'print {url, key, organisation, sandbox, settings} as JSON when ready')
    .environment()
    .examples(
      ['scopegate demo', 'scopegate demo --port 8080'],
      [
        'The example data (Northwind Traders) is loaded once and stays in DATA_DIR. So does the key, in the file demo-key; the next',
        'start prints it again if it is still valid. INTROSPECTION defaults to public and LOG_LEVEL to warn. Press Ctrl-C to stop.',
      ],
    )
    .run(async () => (await import('./demo.js')).demoCommand);
}

/** Import and export. */
function addRecords(program: ExplainedCommand): void {
  program
    .subcommand('import', 'load NDJSON files into an organisation; safe to run again')
    .argument(
      '<path>',
      'folder with {products,customers,quotes,orders,requests}.ndjson (any of them), or one such file',
    )
    .org()
    .option('--keys', 'also load keys.ndjson, as written by export --keys; needs the same KEY_PEPPER and KEY_PREFIX')
    .json('{files: {products: {read, created, updated, unchanged, failed}, …}, errors}')
    .examples(
      [
        `scopegate import --org ${ORG_ID} examples/northwind`,
        `scopegate import --org ${ORG_ID} orders.ndjson 2> faults.txt`,
      ],
      [
        'Each line is one JSON record, as written by scopegate export. Every line is checked. Invalid lines are reported on stderr',
        'as file:line: pointer: message, valid ones are stored, and the exit code is 1 if any line was invalid. After Ctrl-C,',
        'completed batches stay stored; run the command again to continue.',
        '',
        'If the folder has an organisation.json, an organisation without data gets its name, plan and currency. One with data keeps',
        'its own, and nothing is imported if the currencies differ.',
      ],
    )
    .run(async () => (await import('./import/command.js')).importCommand);

  program
    .subcommand('export', "write an organisation's data to files that import can read, and organisation.json")
    .argument('<dir>', 'folder to write to; created if missing')
    .org()
    .option('--keys', 'also write the keys: their hashes and the fingerprint of KEY_PEPPER, no secrets')
    .option('--force', 'overwrite existing files')
    .json('{dir, files: {products: 77, …}}')
    .examples([
      `scopegate export --org ${ORG_ID} backup`,
      `scopegate export --org ${ORG_ID} backup --keys --force --json`,
    ])
    .run(async () => (await import('./export.js')).exportCommand);
}

function addCustomer(program: ExplainedCommand): void {
  const customer = program.subcommand('customer', "erase a customer's personal data, or let it be written again");
  customer
    .subcommand(
      'erase',
      "erase one customer's personal data for good: name, contacts, email, phone, addresses, and the copies in orders and request threads",
    )
    .id('the customer')
    .org()
    .requiredOption('--confirm <name>', 'name of the customer, to confirm that it is the right one')
    .option('--json', 'print {id, erased} as JSON, with the number of rows changed by collection')
    .examples(
      [`scopegate customer erase 4fe3db78-fae6-5e29-978f-54799d0ea0d1 --org ${ORG_ID} --confirm "Alfreds Futterkiste"`],
      [
        'Ids, external_ref, numbers, amounts and times are kept, as accounting law requires. Subjects and texts of request threads are',
        'replaced as a whole. If it is interrupted, run it again to continue. Backups and exports are not changed. Afterwards, writes of the',
        'customer fail with the code erased, until scopegate customer readmit. Messages that still arrive in its threads are stored: run',
        'this again to erase them.',
      ],
    )
    .run(async () => (await import('./erase.js')).eraseCustomerCommand);
  customer
    .subcommand('readmit', 'let an erased customer be written again; each member stays erased until it is next sent')
    .argument('<ref>', 'external_ref or id of the customer')
    .org()
    .json('{id, external_ref}')
    .examples([`scopegate customer readmit ALFKI --org ${ORG_ID}`])
    .run(async () => (await import('./erase.js')).readmitCustomerCommand);
  customer.nameCommands();
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
  sandbox.nameCommands();
}

function addOpenapi(program: ExplainedCommand): void {
  program
    .subcommand('openapi', 'print the OpenAPI 3.1 document of the REST API; no database needed')
    .option('--json', 'accepted for consistency; the document is JSON anyway')
    .examples(['scopegate openapi > openapi.json', 'npx openapi-typescript openapi.json -o api.d.ts'])
    .action(async () => {
      const { openApiDocument } = await import('../rest/routes.js');
      const { readConfig } = await import('../config/index.js');
      print(JSON.stringify(openApiDocument(readConfig().PUBLIC_URL), undefined, 2));
    });
}

function addDoctor(program: ExplainedCommand): void {
  program
    .subcommand('doctor', 'check the environment, the database, Redis, the indexes and the files, and suggest fixes')
    .option('--fix', 'create missing indexes, and drop those that are no longer needed')
    .json('{ok, checks: [{name, ok, detail, fix?}]}')
    .environment()
    .examples(['scopegate doctor', 'scopegate doctor --fix', 'scopegate doctor --json'])
    .run(async () => (await import('./doctor/command.js')).doctorCommand);
}
