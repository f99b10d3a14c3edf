import { Option } from 'commander';
import { ERROR_CODES } from '../errors';
import { KEY_FACES, type KeyFace } from '../organisations/requestFilters';
import { MAX_ROWS, ONE_IN, REQUESTS_KEPT_FOR, ROWS_A_MINUTE, WRITE_EVERY } from '../organisations/requestLimits';
import { operationShown, shownRequest } from '../organisations/requestName';
import { DAY, SECOND } from '../units';
import { notFound, usageFailure } from './ending';
import { type ExplainedCommand, type JsonOption, ORG_ID } from './help';
import type { Store } from './store';
import { printList, say, warn } from './terminal';
import { count, moment, status, uuid } from './values';
import { requireOrganisation, withStore } from './withStore';

interface LogsOptions extends JsonOption {
  readonly org?: string;
  readonly key?: string;
  readonly status?: string;
  readonly code?: string;
  readonly operation?: string;
  readonly face?: KeyFace;
  readonly failed?: true;
  readonly requestId?: string;
  readonly since?: Date;
  readonly limit: number;
}

const DAYS = String(REQUESTS_KEPT_FOR / DAY);
const SECONDS = String(WRITE_EVERY / SECOND);
/** How many root fields of a request are shown. */
const ROOT_FIELDS = 2;
/** Why a key was refused; printed after the word "key". */
const REFUSALS = { revoked: 'revoked', expired: 'expired', address: 'used from elsewhere' } as const;

export function addLogs(program: ExplainedCommand): void {
  program
    .subcommand('logs', `show the requests made with an organisation's keys in the last ${DAYS} days; newest first`)
    .option('--org <id>', 'organisation; needed unless --request-id is the only filter', uuid)
    .option('--key <id>', 'only requests with this key', uuid)
    .option('--status <status>', 'only requests with this status (e.g. 404) or class of statuses (e.g. 4xx)', status)
    .addOption(new Option('--code <code>', 'only requests with this error code').choices(Object.keys(ERROR_CODES)))
    .option('--operation <name>', 'only requests of this operation, e.g. quotes')
    .addOption(new Option('--face <face>', 'only requests to this API').choices(KEY_FACES))
    .option('--failed', 'only requests that failed')
    .option('--request-id <id>', 'only requests with this id, as in an error or the header X-Request-Id')
    .option('--since <time>', 'only requests since a date (e.g. 2026-11-21) or an age (e.g. 1d)', moment)
    .option('--limit <count>', 'maximum number of requests to show', count, 100)
    .json(
      'an array of {id, organisation_id, at, request_id, key_id, face, method, path, operation, operation_type, operation_name, status, code, reason, missing_scope, elements, elements_failed, ms, address}',
    )
    .examples(
      [
        `scopegate logs --org ${ORG_ID} --failed --since 1d`,
        'scopegate logs --request-id 0b2ad2e0-3b84-4f2a-9a47-6a4d8f6f5f0e --json',
      ],
      [
        `Requests are stored after up to ${SECONDS} seconds: of a key, ${String(ROWS_A_MINUTE.failed)} failed and ${String(ROWS_A_MINUTE.successful)} successful ones a minute, and one in ${String(ONE_IN)} of the others. Of an`,
        `organisation the newest ${MAX_ROWS.toLocaleString('en')} failed and ${MAX_ROWS.toLocaleString('en')} successful ones are kept. One without a valid key is only in the gateway's own log, unless`,
        'its key was revoked, has expired or may not be used from that address.',
        'A request id must be given exactly: a UUID, or what the caller sent as X-Request-Id. A GraphQL request of several root fields is found',
        'by all their names in order, e.g. --operation "quotes orders".',
      ],
    )
    .action(logs);
}

async function logs(options: LogsOptions): Promise<void> {
  requireFilters(options);
  const rows = await withStore(async (store, { REQUEST_LOG }) => {
    if (REQUEST_LOG === 'off') warn('REQUEST_LOG=off: gateways with this setting store no requests');
    return requestsOf(store, options);
  });
  // on stderr; printList then prints its `empty`, or [] with --json, on stdout
  if (rows.length === 0)
    say(
      `Requests are stored after up to ${SECONDS} seconds and kept for ${DAYS} days; of the successful ones only some are stored: see scopegate logs --help`,
    );
  printList(
    rows.map((row) => ({ ...shownRequest(row), organisation_id: row.organisation_id })),
    {
      ...(options.org === undefined && { ORGANISATION: ({ organisation_id: id }) => id }),
      WHEN: ({ at }) => at.toISOString(),
      KEY: ({ key_id }) => key_id,
      API: ({ face }) => face,
      REQUEST: ({ method, path }) => `${method} ${path}`,
      OPERATION: (row) => operationShown(row, ROOT_FIELDS),
      STATUS: ({ status }) => String(status),
      CODE: ({ code, reason, missing_scope: missing, elements, elements_failed: failed }) =>
        failed !== null && failed > 0
          ? `${String(failed)} of ${String(elements)} failed`
          : `${code ?? ''}${missing ? `, lacks ${missing}` : ''}${reason ? `, key ${REFUSALS[reason]}` : ''}`,
      MS: ({ ms }) => String(ms),
      FROM: ({ address }) => address,
      ID: ({ request_id }) => request_id,
    },
    // so wide at most, since callers choose the length of paths and of unknown field names
    {
      json: options.json,
      limit: options.limit,
      empty: 'No matching requests.',
      widest: { REQUEST: 70, OPERATION: 40 },
    },
  );
}

/** @throws CommandFailure unless the requests are of one organisation, or have one id */
function requireFilters({ org, requestId, limit: _, json: __, ...others }: LogsOptions): void {
  if (org !== undefined) return;
  if (requestId === undefined) throw usageFailure('--org or --request-id is needed');
  if (Object.keys(others).length > 0) throw usageFailure('without --org, --request-id is the only filter');
}

/**
 * The matching requests, newest first: at most one more than the limit, which tells printList that there are more.
 * @throws CommandFailure if the organisation or its key does not exist
 */
async function requestsOf(store: Store, { org, key, requestId, since, limit, json: _, ...filters }: LogsOptions) {
  const { apiKeys, requests } = store.control;
  // requireFilters has seen to it that there is an id then
  if (org === undefined) return requests.withRequestId(requestId ?? '', limit + 1);
  await requireOrganisation(store, org);
  const isUnknown = key !== undefined && (await apiKeys.find(key))?.organisation.id !== org;
  // a key that was deleted after it was revoked or expired may still have requests
  if (isUnknown && (await requests.list({ organisationId: org, key_id: key }, 1)).length === 0)
    throw notFound('key', key, `see scopegate key list --org ${org}`);
  const query = { organisationId: org, key_id: key, request_id: requestId, since: since?.toISOString(), ...filters };
  return requests.list(query, limit + 1);
}
