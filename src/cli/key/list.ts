import type { ExplainedCommand, JsonOption } from '../common/help';
import { printList } from '../common/terminal';
import { uuid } from '../common/values';
import { requireOrganisation, withStore } from '../common/withStore';
import { shownKey, type ShownKey, valueOf } from './shown';

export function addList(key: ExplainedCommand): void {
  key
    .command('list')
    .description("list an organisation's keys, oldest first; key values are never shown")
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--json', 'print an array of {id, name, prefix, last_four, scopes, …, state} as JSON')
    .examples(['scopegate key list --org 689defbf-4477-4b15-966e-4830b650ded3'])
    .action(async ({ org, json }: JsonOption & { readonly org: string }) => {
      const rows = await withStore(async (store) => {
        const { apiKeys } = store.control;
        const keys = await apiKeys.list((await requireOrganisation(store, org)).id);
        return keys.map((key) => shownKey(key, apiKeys));
      });
      const columns: Record<string, (row: ShownKey) => string> = {
        ID: ({ id }) => id,
        STATE: ({ state }) => state,
        KEY: valueOf,
        NAME: ({ name }) => name,
        CREATED: ({ created_at }) => day(created_at),
        EXPIRES: ({ expires_at }) => day(expires_at),
        MCP: ({ mcp }) => mcp,
        'LAST USED': ({ last_used_at, last_used_from }) =>
          last_used_at ? `${day(last_used_at)} ${last_used_from ?? ''}` : 'never',
        SCOPES: ({ scopes }) => scopes.join(','),
      };
      const empty = 'This organisation has no keys yet. To create one, see scopegate key create --help';
      printList(rows, columns, { json, empty });
    });
}

const day = (moment: Date | null): string => moment?.toISOString().slice(0, 10) ?? 'never';
