import { Argument, type Command } from 'commander';
import { thereIsNo } from '../common/failure';
import { teach } from '../common/help';
import { print, printJson } from '../common/terminal';
import { uuid } from '../common/values';

export function addKeyRevoke(key: Command): void {
  const command = key
    .command('revoke')
    .description('end a key: no request that starts once this returns succeeds with it, on any instance')
    .addArgument(new Argument('<id>', 'id of the key, as key list shows it').argParser(uuid))
    .option('--json', 'print {id, revoked} as JSON')
    .action(revoke);
  teach(command, ['scopegate key revoke 7e3143c1-62cb-491a-bcf5-b80409d22122']);
}

async function revoke(id: string, options: { readonly json?: true }): Promise<void> {
  const { withStore } = await import('../common/withStore.js');
  const revoked = await withStore(({ control }) => control.apiKeys.revoke(id));
  if (!revoked) throw thereIsNo('key', id, 'scopegate key list --org ID shows those there are');
  if (options.json) {
    printJson({ id, revoked });
    return;
  }
  print(`The key ${id} is revoked.`);
}
