import type { ExplainedCommand } from '../common/help';
import { uuid } from '../common/values';
import type { EraseOptions } from './command';

export function addCustomer(program: ExplainedCommand): void {
  const customer = program.command('customer').description("erase a customer's personal data");
  customer
    .command('erase')
    .description(
      "erase one customer's personal data for good: name, contacts, email, phone, addresses, and the copies in orders and request threads",
    )
    .argument('<id>', 'id of the customer', uuid)
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .requiredOption('--confirm <name>', 'name of the customer, to make sure that it is this one')
    .option('--json', 'print {id, erased} as JSON, with the number of rows changed by collection')
    .examples(
      [
        'scopegate customer erase 4fe3db78-fae6-5e29-978f-54799d0ea0d1 --org 689defbf-4477-4b15-966e-4830b650ded3 --confirm "Alfreds Futterkiste"',
      ],
      [
        'Ids, external_ref, numbers, amounts and times are kept, as the law asks for accounts. Subjects and texts of request threads are',
        'replaced as a whole. If it is interrupted, run it again to continue. Backups and exports are not changed.',
      ],
    )
    .action(async (id: string, options: EraseOptions) => (await import('./command.js')).eraseCommand(id, options));
  customer.nameCommands();
}
