import type { ExplainedCommand } from '../common/help';
import { uuid } from '../common/values';
import type { ImportOptions } from './command';

export function addImport(program: ExplainedCommand): void {
  program
    .command('import')
    .description('load NDJSON files into an organisation; safe to run again')
    .argument(
      '<path>',
      'folder with {products,customers,quotes,orders,requests}.ndjson (any of them), or one such file',
    )
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--keys', 'also load keys.ndjson, as written by export --keys; needs the same KEY_PEPPER and KEY_PREFIX')
    .option('--json', 'print {files: {products: {read, created, updated, unchanged, failed}, …}, errors} as JSON')
    .examples(
      [
        'scopegate import --org 689defbf-4477-4b15-966e-4830b650ded3 examples/northwind',
        'scopegate import --org 689defbf-4477-4b15-966e-4830b650ded3 orders.ndjson 2> faults.txt',
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
    .action(async (path: string, options: ImportOptions) =>
      (await import('./command.js')).importCommand(path, options),
    );
}
