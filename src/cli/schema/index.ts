import type { ExplainedCommand } from '../help';

const FOLDER = 'folder with *.graphql, and optionally rules.mjs and examples/';

export function addSchema(program: ExplainedCommand): void {
  const schema = program.subcommand('schema', 'print the schema, or extend it with a folder of your own');
  schema
    .subcommand('print', 'print the GraphQL schema, or what is stored; the default; no database needed', {
      isDefault: true,
    })
    .option('--stored', 'print the JSON Schema of each collection in the form of MongoDB ($jsonSchema), by its name')
    .option('--directives', 'print the schema with its directives: routes, scopes and limits, for diff to compare')
    .option('--json', 'print {schema} as JSON; what --stored prints is JSON anyway')
    .examples(
      ['scopegate schema > schema.graphql', 'SCHEMA_DIR=my-schema scopegate schema --stored > stored.json'],
      [
        'docs/stored.md explains what is stored, for programs that write with a driver of their own; docs/guides/schema.md how to extend the',
        'schema: SCHEMA_DIR names the folder, for every gateway and every command.',
      ],
    )
    .run(async () => (await import('./print.js')).schemaCommand);
  schema
    .subcommand('init', 'write a folder that adds invoices, and a status and a project code to quotes')
    .argument('<dir>', 'folder to write; created if missing')
    .json('{dir, files}')
    .examples(['scopegate schema init my-schema'])
    .run(async () => (await import('./init.js')).initCommand);
  schema
    .subcommand('check', 'say what is wrong with a folder, a line each, with file and line')
    .argument('[dir]', `${FOLDER} (default: SCHEMA_DIR)`)
    .option('--data', 'also read every row, and name those that the schema no longer allows; needs the database')
    .json('{ok, errors}, or with --data what doctor --rows prints')
    .examples(
      ['scopegate schema check my-schema', 'scopegate schema check my-schema --data'],
      [
        'Run it with --data before an upgrade: it names the first 1,000 rows, such as those with a status that was removed.',
      ],
    )
    .run(async () => (await import('./check.js')).checkCommand);
  schema
    .subcommand('diff', 'say which changes of a schema break its callers or rows; exit code 1 if any does')
    .argument('[dir]', `${FOLDER}, as it is now (default: SCHEMA_DIR, or the schema without additions)`)
    .requiredOption('--against <other>', 'the folder as it was, or a file that scopegate schema --directives wrote')
    .json('{breaking, safe}, with types_only if the other one is a file without directives')
    .examples(['scopegate schema diff my-schema --against served.graphql'])
    .run(async () => (await import('./diff.js')).diffCommand);
  schema.listSubcommandsOnError();
}
