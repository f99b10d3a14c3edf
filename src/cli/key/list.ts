import type { Command } from 'commander';
import { type ApiKey, type KeyState, keyState } from '../../access/apiKey';
import { addExamples } from '../common/help';
import { print, printJson, printTable } from '../common/terminal';
import { uuid } from '../common/values';

interface ListOptions {
  readonly org: string;
  readonly json?: true;
}

export function addKeyList(key: Command): void {
  const command = key
    .command('list')
    .description("list an organisation's keys, oldest first; key values are never shown")
    .requiredOption('--org <id>', 'id of the organisation', uuid)
    .option('--json', 'print an array of {id, name, prefix, last_four, scopes, …, state} as JSON')
    .action(list);
  addExamples(command, ['scopegate key list --org 689defbf-4477-4b15-966e-4830b650ded3']);
}

async function list(options: ListOptions): Promise<void> {
  const { requireOrganisation, withStore } = await import('../common/withStore.js');
  const keys = await withStore(async (store) => {
    const organisation = await requireOrganisation(store, options.org);
    return store.control.apiKeys.list(organisation.id);
  });
  const now = new Date();
  const rows = keys.map((key) => describeKey(key, now));
  if (options.json) {
    printJson(rows);
    return;
  }
  if (rows.length === 0) {
    print('This organisation has no keys yet. To create one, see scopegate key create --help');
    return;
  }
  printTable(
    ['ID', 'STATE', 'KEY', 'NAME', 'CREATED', 'EXPIRES', 'LAST USED', 'SCOPES'],
    rows.map((row) => [
      row.id,
      row.state,
      `${row.prefix}…${row.last_four}`,
      row.name,
      day(row.created_at),
      row.expires_at === null ? 'never' : day(row.expires_at),
      row.last_used_at === null ? 'never' : `${day(row.last_used_at)} ${row.last_used_from ?? ''}`,
      row.scopes.join(','),
    ]),
  );
}

function day(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}

/** The members shown, as an allowlist: a hash, or a new member of the document, can never leak. */
const SHOWN = [
  'name',
  'prefix',
  'last_four',
  'scopes',
  'created_by',
  'created_at',
  'expires_at',
  'revoked_at',
  'last_used_at',
  'last_used_from',
  'allowed_ranges',
  'rotated_to',
] as const satisfies readonly (keyof ApiKey)[];

type KeyRow = Pick<ApiKey, (typeof SHOWN)[number]> & { readonly id: string; readonly state: KeyState };

function describeKey(key: ApiKey, now: Date): KeyRow {
  const shown = Object.fromEntries(SHOWN.map((member) => [member, key[member]])) as Pick<
    ApiKey,
    (typeof SHOWN)[number]
  >;
  return { id: key._id, ...shown, state: keyState(key, now) };
}
