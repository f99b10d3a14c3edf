import { notFound } from '../common/failure';
import type { ExplainedCommand, JsonOption } from '../common/help';
import { print, printJson } from '../common/terminal';
import { uuid } from '../common/values';
import { withStore } from '../common/withStore';

export function addRevoke(key: ExplainedCommand): void {
  key
    .command('revoke')
    .description('revoke a key: once this returns, it fails for every new request on every instance')
    .argument('<id>', 'id of the key (see key list)', uuid)
    .option('--json', 'print {id, revoked} as JSON')
    .examples(['scopegate key revoke 7e3143c1-62cb-491a-bcf5-b80409d22122'])
    .action(async (id: string, { json }: JsonOption) => {
      const revoked = await withStore(({ control }) => control.apiKeys.revoke(id));
      if (!revoked) throw notFound('key', id, 'see scopegate key list --org ID');
      if (json) printJson({ id, revoked });
      else print(`Revoked key ${id}.`);
    });
}
