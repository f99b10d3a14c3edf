import type { ApiKey } from '../../auth/apiKey';
import { notFound } from '../common/failure';
import type { ExplainedCommand, JsonOption } from '../common/help';
import { printJson, printPairs } from '../common/terminal';
import { uuid } from '../common/values';
import { withStore } from '../common/withStore';
import { placesOf, shownKey, type ShownKey, valueOf } from './shown';

export function addShow(key: ExplainedCommand): void {
  key
    .command('show')
    .description('show one key with its organisation; the key value is never shown')
    .argument('<id>', 'id of the key, as in the log or in key list', uuid)
    .option('--json', 'print what key list prints of it, and its organisation {id, name}, as JSON')
    .examples(['scopegate key show 7e3143c1-62cb-491a-bcf5-b80409d22122'])
    .action(async (id: string, { json }: JsonOption) => {
      const shown = await withStore(async ({ control: { apiKeys } }) => {
        const found = await apiKeys.find(id);
        if (!found) throw notFound('key', id, 'see scopegate key list --org ID');
        const { id: organisationId, name } = found.organisation;
        return { ...shownKey(found, apiKeys), organisation: { id: organisationId, name } };
      });
      if (json) printJson(shown);
      else printPairs(described(shown));
    });
}

function described(key: ShownKey & { readonly organisation: Pick<ApiKey['organisation'], 'id' | 'name'> }) {
  const { last_used_at: usedAt, last_used_from: usedFrom, rotated_to: replacement, revoked_at: revoked } = key;
  return {
    id: key.id,
    state: key.state,
    key: valueOf(key),
    name: key.name,
    organisation: `${key.organisation.name} (${key.organisation.id})`,
    scopes: key.scopes.join(', '),
    from: placesOf(key.allowed_ranges),
    mcp: key.mcp,
    created: `${key.created_at.toISOString()} by ${key.created_by}`,
    expires: key.expires_at?.toISOString() ?? 'never',
    ...(revoked && { revoked: revoked.toISOString() }),
    'last used': usedAt ? `${usedAt.toISOString()} from ${usedFrom ?? 'unknown'}` : 'never',
    'replaced by': replacement ?? 'none',
  };
}
