import { AppError } from '../errors';
import { ADDRESS_NOT_PUBLIC, NOT_HTTPS } from '../webhooks/addresses';
import type { Admin } from '../admin';
import { ownerOf } from '../organisations/webhookRows';
import { CommandFailure, notFound, usageFailure } from './ending';
import { type ExplainedCommand, type JsonOption, ORG_ID, type OrgOption } from './help';
import type { Store } from './store';
import { print, printJson, printList, printResult, say, warn } from './terminal';
import { customerIds, eventTypes, moment } from './values';
import { requireOrganisation, withStore } from './withStore';

/** Id of an endpoint, for examples. */
const ID = '5b9f0c1e-8f0b-4f58-9d6a-2f5a3c6d7e81';
/** What an argument `<id>` is, for help. */
const ENDPOINT_ID = 'the endpoint (see webhook list)';

const startTime = (text: string): Date => (text === 'now' ? new Date() : moment(text));

export function addWebhook(program: ExplainedCommand): void {
  const webhook = program.subcommand('webhook', 'send events to the servers of an organisation');
  webhook
    .subcommand('create', 'create an endpoint that gets events from now on, and show its secret once')
    .org()
    .requiredOption(
      '--url <url>',
      'where to post events: an https URL with a public address, or one in WEBHOOK_ALLOWED_RANGES, then also http',
    )
    .option('--types <list>', 'comma-separated types of events (default: all)', eventTypes)
    .option(
      '--customer-ids <list>',
      'comma-separated ids, or ref: and an external_ref without commas, of the customers whose events alone it gets, for good, up to 100; it also gets those that belong to no customer, such as of products (default: of all customers)',
      customerIds,
    )
    .json('{id, url, types, customer_ids, secret}')
    .examples([
      `scopegate webhook create --org ${ORG_ID} --url https://example.com/webhooks`,
      `scopegate webhook create --org ${ORG_ID} --url https://example.com/webhooks --types quote.status_changed,order.created --json`,
    ])
    .action(create);

  webhook
    .subcommand('list', "list an organisation's endpoints, oldest first; secrets are never shown")
    .org()
    .json('an array of {id, url, types, customer_ids, state, …}')
    .examples([`scopegate webhook list --org ${ORG_ID}`])
    .action(list);

  webhook
    .subcommand('test', 'send a webhook.test event now, from this machine, and show the result')
    .id(ENDPOINT_ID)
    .json('{id, url, types, customer_ids, ok, status, error, answer, ms}')
    .examples([`scopegate webhook test ${ID}`], ['The exit code is 1 unless the endpoint answers 2xx.'])
    .action(test);

  webhook
    .subcommand(
      'rotate',
      'replace the secret of an endpoint and show the new one once; for 24 hours events are signed with both',
    )
    .id(ENDPOINT_ID)
    .json('{id, url, types, customer_ids, secret}')
    .examples(
      [`scopegate webhook rotate ${ID}`],
      ['Events are signed with at most two secrets: the new one and, for 24 hours, the one before it.'],
    )
    .action(rotate);

  webhook
    .subcommand('enable', 'enable an endpoint that is disabled or failing, or send events again')
    .id(ENDPOINT_ID)
    .option(
      '--from <time>',
      'send events since a date (e.g. 2026-11-21T09:00:00Z), an age (e.g. 7d; at most 30d) or now, and drop those that wait (default: from where it stopped)',
      startTime,
    )
    .json('{id, url, types, customer_ids, state}')
    .examples([`scopegate webhook enable ${ID}`, `scopegate webhook enable ${ID} --from 2d --json`])
    .action(enable);

  webhook
    .subcommand('disable', 'send nothing to an endpoint until it is enabled again')
    .id(ENDPOINT_ID)
    .json('{id, url, types, customer_ids, state}')
    .examples([`scopegate webhook disable ${ID}`])
    .action(disable);

  webhook
    .subcommand('delete', 'delete an endpoint for good')
    .id(ENDPOINT_ID)
    .json('{id, url, types, customer_ids, deleted}')
    .examples([`scopegate webhook delete ${ID}`])
    .action(remove);

  webhook.listSubcommandsOnError();
}

type WebhookEndpoint = Awaited<ReturnType<Admin['disable_webhook']>>;
type NewWebhookEndpoint = Awaited<ReturnType<Admin['create_webhook']>>;

interface CreateOptions extends OrgOption {
  readonly url: string;
  readonly types?: readonly string[];
  readonly customerIds?: readonly string[];
}

/**
 * Runs `work` as an operator of an organisation, given its id or that of one of its endpoints. Invalid values become wrong usage; `customerIds` are
 * those given, which its message repeats.
 */
async function withWebhooks<T>(
  of: { readonly org: string } | { readonly endpoint: string },
  work: (admin: Admin) => Promise<T>,
  customerIds: readonly string[] = [],
): Promise<T> {
  return withStore(async (store, config) => {
    const id = 'org' in of ? of.org : await organisationIdOf(store, of.endpoint);
    const organisation = await requireOrganisation(store, id);
    const [{ webhookParts }, { createAdmin }, { asOperator }] = await Promise.all([
      import('../webhooks/index.js'),
      import('../admin/index.js'),
      import('../admin/caller.js'),
    ]);
    const { poster, management } = webhookParts({ config, ...store });
    const adminOf = createAdmin({ config, ...store, ...management });
    try {
      return await work(adminOf(asOperator(organisation, store.operator)));
    } catch (error) {
      throw error instanceof AppError && error.code === 'validation_failed'
        ? usageFailure(faultLines(error, customerIds))
        : error;
    } finally {
      poster.close();
    }
  });
}

/** One line per fault, with the name of the option, and a customer as given, instead of the pointer to the argument; the error's detail if it has no faults. */
function faultLines({ detail: all, extras: { errors = [] } }: AppError, customerIds: readonly string[]): string {
  const lines = errors.map(({ pointer = '', detail }) => {
    const [, member = '', at] = pointer.split('/');
    const option = member.replaceAll('_', '-');
    const customer = member === 'customer_ids' ? `${customerIds[Number(at)] ?? ''} ` : '';
    // only operators can allow such an address, so only they are told how
    const ranges = detail.endsWith(ADDRESS_NOT_PUBLIC)
      ? ', nor in WEBHOOK_ALLOWED_RANGES'
      : detail.startsWith(NOT_HTTPS)
        ? ', or http:// for an address in WEBHOOK_ALLOWED_RANGES'
        : '';
    return `--${option}: ${customer}${detail}${ranges}`;
  });
  return lines.length > 0 ? lines.join('\n') : all;
}

async function organisationIdOf({ control }: Store, endpoint: string): Promise<string> {
  const row = await control.webhooks.find(endpoint, {});
  if (!row) throw notFound('webhook endpoint', endpoint);
  return ownerOf(row);
}

const identityOf = ({ id, url, types, customer_ids }: WebhookEndpoint) => ({ id, url, types, customer_ids });
const typesOf = ({ types }: Pick<WebhookEndpoint, 'types'>): string => (types.length === 0 ? 'all' : types.join(', '));

const stateOf = ({ state, disabled_reason: why }: WebhookEndpoint): string => (why ? `${state} (${why})` : state);

function showNew({ secret, endpoint }: NewWebhookEndpoint, json: true | undefined): void {
  printResult(
    json,
    { ...identityOf(endpoint), secret },
    {
      secret,
      id: endpoint.id,
      url: endpoint.url,
      types: typesOf(endpoint),
      customers: endpoint.customer_ids?.join(', ') ?? 'all',
    },
  );
  if (json) return;
  say('\nSave the secret now: it will not be shown again. Receivers check the signature of each event with it.');
}

async function create({ org, url, types, customerIds: customer_ids, json }: CreateOptions): Promise<void> {
  const { created, others } = await withWebhooks(
    { org },
    async (admin) => {
      // before, so that nothing can fail between creating the secret and showing it
      const { data: others } = await admin.webhooks();
      return {
        others,
        created: await admin.create_webhook({ url, ...(types && { types }), ...(customer_ids && { customer_ids }) }),
      };
    },
    customer_ids,
  );
  showNew(created, json);
  for (const other of others)
    if (sharesEvents(created.endpoint, other))
      warn(`${other.id} already posts to this URL, so it gets events twice; to end that: scopegate webhook delete ID`);
}

/** Whether two endpoints post some of the same events to the same URL. Events of no customer do not count: an endpoint for each customer at one URL is usual. */
function sharesEvents(left: WebhookEndpoint, right: WebhookEndpoint): boolean {
  const isShared = (some: readonly string[], others: readonly string[]): boolean =>
    some.length === 0 || others.length === 0 || some.some((one) => others.includes(one));
  const ofSameCustomers = isShared(left.customer_ids ?? [], right.customer_ids ?? []);
  return left.url === right.url && ofSameCustomers && isShared(left.types, right.types);
}

async function list({ org, json }: OrgOption): Promise<void> {
  const { data: rows } = await withWebhooks({ org }, (admin) => admin.webhooks());
  const empty = 'This organisation has no webhook endpoints yet. To create one, see scopegate webhook create --help';
  printList(
    rows,
    {
      ID: ({ id }) => id,
      STATE: stateOf,
      RETRYING: ({ waiting }) => String(waiting),
      BEHIND: ({ lag_seconds: lag }) => (lag === null ? 'unknown' : `${String(lag)} s`),
      'LAST SUCCESS': ({ last_success_at: at }) => at?.toISOString() ?? 'never',
      CUSTOMERS: ({ customer_ids: ids }) => (ids ? String(ids.length) : 'all'),
      TYPES: typesOf,
      URL: ({ url }) => url,
    },
    { json, empty },
  );
}

/** @throws CommandFailure if there is no such endpoint */
async function endpointOf(admin: Admin, id: string): Promise<WebhookEndpoint> {
  const endpoint = (await admin.webhooks()).data.find((candidate) => candidate.id === id);
  if (!endpoint) throw notFound('webhook endpoint', id);
  return endpoint;
}

/** Sends a test event. @throws CommandFailure unless the endpoint accepts it */
async function test(id: string, { json }: JsonOption): Promise<void> {
  const { endpoint, attempt } = await withWebhooks({ endpoint: id }, async (admin) => ({
    endpoint: await endpointOf(admin, id),
    attempt: await admin.send_test_event({ webhook_id: id }),
  }));
  const { ok, status, error, answer, ms } = attempt;
  if (json) printJson({ ...identityOf(endpoint), ok, status, error, answer, ms });
  else if (ok) print(`${endpoint.url} answered ${String(status)} after ${String(ms)} ms.`);
  if (endpoint.state === 'disabled')
    warn(`The endpoint is ${stateOf(endpoint)}, so it gets no other events: scopegate webhook enable ${id}`);
  if (!ok)
    throw new CommandFailure(`the test event was not accepted: ${error ?? ''}${answer === null ? '' : `\n${answer}`}`);
}

/** Replaces a secret. Warns after a second rotation within 24 hours, which ends a secret that may still be in use. */
async function rotate(id: string, { json }: JsonOption): Promise<void> {
  const { olderSecretUntil, rotated } = await withWebhooks({ endpoint: id }, async (admin) => {
    const { old_secret_until: olderSecretUntil } = await endpointOf(admin, id);
    return { olderSecretUntil, rotated: await admin.rotate_webhook({ webhook_id: id }) };
  });
  showNew(rotated, json);
  const until = rotated.endpoint.old_secret_until?.toISOString() ?? 'now';
  say(`Events are also signed with the previous secret until ${until}.`);
  if (olderSecretUntil)
    warn(
      `the secret before the previous one would have been used until ${olderSecretUntil.toISOString()}, and no longer is: events are signed with at most two`,
    );
}

async function enable(id: string, { from, json }: JsonOption & { readonly from?: Date }): Promise<void> {
  const endpoint = await withWebhooks({ endpoint: id }, (admin) =>
    admin.enable_webhook({ webhook_id: id, ...(from && { from }) }),
  );
  const since = from?.toISOString() ?? 'where it stopped';
  printResult(
    json,
    { ...identityOf(endpoint), state: endpoint.state },
    `Enabled ${id}; it gets events from ${since} on.`,
  );
}

async function disable(id: string, { json }: JsonOption): Promise<void> {
  const endpoint = await withWebhooks({ endpoint: id }, (admin) => admin.disable_webhook({ webhook_id: id }));
  const shown = `Disabled ${id}; nothing is sent to it until it is enabled.`;
  printResult(json, { ...identityOf(endpoint), state: endpoint.state }, shown);
}

async function remove(id: string, { json }: JsonOption): Promise<void> {
  const endpoint = await withWebhooks({ endpoint: id }, (admin) => admin.delete_webhook({ webhook_id: id }));
  printResult(json, { ...identityOf(endpoint), deleted: true }, `Deleted ${id}.`);
}
