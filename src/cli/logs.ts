import { Option } from 'commander';
import { KEY_FACES, type KeyFace } from '../organisations/requestFilters';
import type { ExplainedCommand, JsonOption } from './common/help';
import { printList } from './common/terminal';
import { count, status, uuid } from './common/values';
import { requireOrganisation, withStore } from './common/withStore';

interface LogsOptions extends JsonOption {
  readonly org: string;
  readonly key?: string;
  readonly status?: string;
  readonly code?: string;
  readonly operation?: string;
  readonly face?: KeyFace;
  readonly failed?: true;
  readonly requestId?: string;
  readonly limit: number;
}

/** Why a key was refused, after "key". */
const REFUSALS = { revoked: 'revoked', expired: 'expired', address: 'used from elsewhere' } as const;

export function addLogs(program: ExplainedCommand): void {
  program
    .command('logs')
    .description("show the requests made with an organisation's keys in the last 7 days; newest first")
    .requiredOption('--org <id>', 'organisation', uuid)
    .option('--key <id>', 'only requests with this key', uuid)
    .option('--status <status>', 'only requests with this status (e.g. 404) or class of statuses (e.g. 4xx)', status)
    .option('--code <code>', 'only requests with this error code, e.g. not_found')
    .option('--operation <name>', 'only requests of this operation, e.g. quotes')
    .addOption(new Option('--face <face>', 'only requests to this API').choices(KEY_FACES))
    .option('--failed', 'only requests that failed')
    .option('--request-id <id>', 'only requests with this id, as in an error or the header X-Request-Id')
    .option('--limit <count>', 'maximum number of requests to show', count, 100)
    .option(
      '--json',
      'print an array of {id, at, request_id, key_id, face, method, path, operation, status, code, reason, ms, address, similar} as JSON',
    )
    .examples([
      'scopegate logs --org 689defbf-4477-4b15-966e-4830b650ded3 --failed',
      'scopegate logs --org 689defbf-4477-4b15-966e-4830b650ded3 --request-id 0b2ad2e0-3b84-4f2a-9a47-6a4d8f6f5f0e --json',
    ])
    .addHelpText(
      'after',
      '\nOf the successful requests only some are stored; a failed one that is not is counted as similar to another, if there is one.',
    )
    .action(async ({ org, key, requestId, limit, json, ...filters }: LogsOptions) => {
      const rows = await withStore(async (store) => {
        await requireOrganisation(store, org);
        const query = { organisationId: org, key_id: key, request_id: requestId, ...filters };
        return store.control.requests.list(query, limit);
      });
      printList(
        rows.map(({ _id: id, organisation_id: _, failed: __, ...row }) => ({ id, ...row })),
        {
          WHEN: ({ at }) => at.toISOString(),
          KEY: ({ key_id }) => key_id,
          API: ({ face }) => face,
          REQUEST: ({ method, path }) => `${method} ${path}`,
          OPERATION: ({ operation }) => operation ?? '',
          STATUS: ({ status }) => String(status),
          CODE: ({ code, reason, similar }) =>
            `${code ?? ''}${reason ? `, key ${REFUSALS[reason]}` : ''}${similar > 0 ? ` (and ${String(similar)} more)` : ''}`,
          MS: ({ ms }) => String(ms),
          FROM: ({ address }) => address,
          ID: ({ request_id }) => request_id,
        },
        { json, empty: 'No matching requests.' },
      );
    });
}
