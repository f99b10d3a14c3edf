import type { Command } from 'commander';
import { teach } from '../common/help';
import { uuid } from '../common/values';

export interface ImportCommandOptions {
  readonly org: string;
  readonly json?: true;
}

export function addImport(program: Command): void {
  const command = program
    .command('import')
    .description('load NDJSON files into an organisation; running it again changes nothing')
    .argument('<path>', 'folder with any of products, customers, quotes, orders, requests .ndjson, or one such file')
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--json', 'print {files: {products: {read, created, updated, unchanged, failed}, …}, errors} as JSON')
    .action(async (path: string, options: ImportCommandOptions) => {
      const { importCommand } = await import('./command.js');
      await importCommand(path, options);
    });
  teach(
    command,
    [
      'scopegate import --org 689defbf-4477-4b15-966e-4830b650ded3 examples/northwind',
      'scopegate import --org 689defbf-4477-4b15-966e-4830b650ded3 orders.ndjson 2> faults.txt',
    ],
    [
      'Each line is one JSON record, as scopegate export writes them. Every line is checked: a bad one is named on stderr as',
      'file:line: pointer: fault, the good ones are stored, and the exit code is 1. Ctrl-C leaves whole batches; run it again',
      'to go on.',
    ],
  );
}
