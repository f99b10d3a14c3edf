import { AppError } from '../../errors';
import { webhookParts } from '../../webhooks';
import { NOT_PUBLIC_ADDRESS } from '../../webhooks/addresses';
import type { NewWebhookEndpoint, OwnWebhooks, WebhookEndpoint } from '../../webhooks/management';
import { CommandFailure, notFound, usageFailure } from '../common/failure';
import type { JsonOption, OrgOption } from '../common/help';
import type { Store } from '../common/open';
import { print, printJson, printList, printResult, say, warn } from '../common/terminal';
import { requireOrganisation, withStore } from '../common/withStore';

interface CreateOptions extends OrgOption {
  readonly url: string;
  readonly types?: readonly string[];
}

interface EnableOptions extends JsonOption {
  readonly from?: Date;
}

/** Runs work on the webhooks of an organisation, or of that of an endpoint. Faults of what was given are wrong usage. */
async function withWebhooks<T>(
  of: { readonly org: string } | { readonly endpoint: string },
  work: (own: OwnWebhooks) => Promise<T>,
): Promise<T> {
  return withStore(async (store, config) => {
    const organisation = await requireOrganisation(
      store,
      'org' in of ? of.org : await organisationOf(store, of.endpoint),
    );
    const { webhooksOf, poster } = webhookParts({ config, ...store });
    const { operator } = store;
    try {
      return await work(webhooksOf(organisation, { actor: operator }, operator.who));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      throw error.code === 'validation_failed' ? usageFailure(faultsOf(error)) : new CommandFailure(error.detail);
    } finally {
      poster.close();
    }
  });
}

/** A line for each fault, with the option in the place of the argument's pointer. */
function faultsOf({ detail: all, extras: { errors = [] } }: AppError): string {
  const lines = errors.map(({ pointer = '', detail }) => {
    const option = pointer.split('/')[1] ?? '';
    // only who runs a gateway can open it
    return `--${option}: ${detail}${detail.endsWith(NOT_PUBLIC_ADDRESS) ? ', nor in WEBHOOK_ALLOWED_RANGES' : ''}`;
  });
  return lines.length > 0 ? lines.join('\n') : all;
}

async function organisationOf({ control }: Store, endpoint: string): Promise<string> {
  const row = await control.webhooks.find(endpoint, {});
  if (!row) throw notFound('webhook endpoint', endpoint);
  return row.organisation_id;
}

type Named = Pick<WebhookEndpoint, 'id' | 'url' | 'types'>;
const named = ({ id, url, types }: WebhookEndpoint): Named => ({ id, url, types });
const typesOf = ({ types }: Pick<WebhookEndpoint, 'types'>): string => (types.length === 0 ? 'all' : types.join(', '));

const stateOf = ({ state, disabled_reason: reason }: WebhookEndpoint): string =>
  reason ? `${state} (${reason})` : state;

function showNew({ secret, endpoint }: NewWebhookEndpoint, json: true | undefined): void {
  printResult(json, { ...named(endpoint), secret }, { secret, ...named(endpoint), types: typesOf(endpoint) });
  if (!json)
    say('\nSave the secret now: it will not be shown again. Receivers check the signature of each event with it.');
}

/** `scopegate webhook create`. */
export async function createCommand({ org, url, types, json }: CreateOptions): Promise<void> {
  const { made, others } = await withWebhooks({ org }, async (own) => {
    // before, so that nothing can fail between the secret and its display
    const others = await own.list();
    return { others, made: await own.create({ url, ...(types && { types }) }) };
  });
  showNew(made, json);
  for (const other of others)
    if (sharesEvents(made.endpoint, other))
      warn(`${other.id} already posts to this URL, so it gets events twice; to end that: scopegate webhook delete ID`);
}

/** Whether two endpoints post the same events to the same URL. */
function sharesEvents(one: WebhookEndpoint, other: WebhookEndpoint): boolean {
  const hasAll = one.types.length === 0 || other.types.length === 0;
  return one.url === other.url && (hasAll || one.types.some((type) => other.types.includes(type)));
}

/** `scopegate webhook list`. */
export async function listCommand({ org, json }: OrgOption): Promise<void> {
  const rows = await withWebhooks({ org }, (own) => own.list());
  const columns: Record<string, (row: WebhookEndpoint) => string> = {
    ID: ({ id }) => id,
    STATE: stateOf,
    WAITING: ({ waiting }) => String(waiting),
    BEHIND: ({ lag_seconds: lag }) => (lag === null ? 'unknown' : `${String(lag)} s`),
    'LAST SUCCESS': ({ last_success_at: at }) => at?.toISOString() ?? 'never',
    TYPES: typesOf,
    URL: ({ url }) => url,
  };
  const empty = 'This organisation has no webhook endpoints yet. To create one, see scopegate webhook create --help';
  printList(rows, columns, { json, empty });
}

async function shown(own: OwnWebhooks, id: string): Promise<WebhookEndpoint> {
  const endpoint = (await own.list()).find((one) => one.id === id);
  if (!endpoint) throw notFound('webhook endpoint', id);
  return endpoint;
}

/** `scopegate webhook test`. @throws CommandFailure unless the endpoint accepts it */
export async function testCommand(id: string, { json }: JsonOption): Promise<void> {
  const { endpoint, attempt } = await withWebhooks({ endpoint: id }, async (own) => ({
    endpoint: await shown(own, id),
    attempt: await own.test(id),
  }));
  const { ok, status, error, answer, ms } = attempt;
  if (json) printJson({ ...named(endpoint), ok, status, error, answer, ms });
  else if (ok) print(`${endpoint.url} answered ${String(status)} after ${String(ms)} ms.`);
  if (endpoint.state === 'disabled')
    warn(`The endpoint is ${stateOf(endpoint)}, so it gets no other events: scopegate webhook enable ${id}`);
  if (!ok)
    throw new CommandFailure(`the test event was not accepted: ${error ?? ''}${answer === null ? '' : `\n${answer}`}`);
}

/** `scopegate webhook rotate`. A second rotation within 24 hours ends a secret that may be in use, so that is said. */
export async function rotateCommand(id: string, { json }: JsonOption): Promise<void> {
  const { before, made } = await withWebhooks({ endpoint: id }, async (own) => {
    const { old_secret_until: before } = await shown(own, id);
    return { before, made: await own.rotate(id) };
  });
  showNew(made, json);
  const until = made.endpoint.old_secret_until?.toISOString() ?? 'now';
  say(`The secret before this one signs too until ${until}.`);
  if (before)
    warn(`the one before that would have signed until ${before.toISOString()}, and no longer does: at most two sign`);
}

/** `scopegate webhook enable`. */
export async function enableCommand(id: string, { from, json }: EnableOptions): Promise<void> {
  const endpoint = await withWebhooks({ endpoint: id }, (own) => own.enable(id, from));
  const since = from?.toISOString() ?? 'where it stopped';
  printResult(json, { ...named(endpoint), state: endpoint.state }, `Enabled ${id}; it gets events from ${since} on.`);
}

/** `scopegate webhook disable`. */
export async function disableCommand(id: string, { json }: JsonOption): Promise<void> {
  const endpoint = await withWebhooks({ endpoint: id }, (own) => own.disable(id));
  const shown = `Disabled ${id}; nothing is sent to it until it is enabled.`;
  printResult(json, { ...named(endpoint), state: endpoint.state }, shown);
}

/** `scopegate webhook delete`. */
export async function deleteCommand(id: string, { json }: JsonOption): Promise<void> {
  const endpoint = await withWebhooks({ endpoint: id }, (own) => own.remove(id));
  printResult(json, { ...named(endpoint), deleted: true }, `Deleted ${id}.`);
}
