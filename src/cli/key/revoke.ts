import { Argument, type Command } from 'commander';
import { notFound } from '../common/failure';
import { addExamples } from '../common/help';
import { print, printJson } from '../common/terminal';
import { uuid } from '../common/values';

export function addKeyRevoke(key: Command): void {
  const command = key
    .command('revoke')
    .description('revoke a key: once this returns, it fails for every new request on every instance')
    .addArgument(new Argument('<id>', 'id of the key (see key list)').argParser(uuid))
    .option('--json', 'print {id, revoked} as JSON')
    .action(revoke);
  addExamples(command, ['scopegate key revoke 7e3143c1-62cb-491a-bcf5-b80409d22122']);
}

async function revoke(id: string, options: { readonly json?: true }): Promise<void> {
  const { withStore } = await import('../common/withStore.js');
  const revoked = await withStore(({ control }) => control.apiKeys.revoke(id));
  if (!revoked) throw notFound('key', id, 'see scopegate key list --org ID');
  if (options.json) {
    printJson({ id, revoked });
    return;
  }
  print(`Revoked key ${id}.`);
}
