import type { Config } from '../../config';
import type { Fault } from '../../errors';
import { BEGINNING } from '../../events/page';
import { type EndpointOutcome, type WebhookRecord, webhookRecord } from '../../organisations/webhookRecords';
import { published } from '../../schema/model';
import { endpointUrl, RefusedAddress } from '../../webhooks/addresses';
import { webhookParts } from '../../webhooks';
import { WrongSecretError } from '../../webhooks/masterSecret';
import { NO_SECRET } from '../../webhooks/settings';
import { CommandFailure, notFound } from '../ending';
import { jsonOf, type Line, ndjsonLines, UNREADABLE } from '../ndjson';
import { requireFile, WEBHOOKS_FILE } from '../records';
import type { Store } from '../store';
import { say } from '../terminal';
import { faultOf } from './importKeys';
import { type FileReport, importFile, type ImportReporter } from './importFile';

/* webhooks.ndjson: a line for each endpoint (docs/decisions/exports.md). */

const EVENT_TYPES: ReadonlySet<string> = new Set(published.eventTypes.map(({ name }) => name));

/** Why an endpoint is not stored. */
const REFUSED: Readonly<Record<Exclude<EndpointOutcome, 'created' | 'unchanged'>, Fault>> = {
  foreign: { pointer: '/id', code: 'conflict', detail: 'is the id of an endpoint of another organisation' },
  too_many: {
    pointer: '',
    code: 'too_many',
    detail: 'the organisation has as many webhook endpoints as its plan includes; delete one first',
  },
};

/** Imports the endpoints of a folder. Resolves with the report of its file. */
export type ImportWebhooks = (organisationId: string, reporter: ImportReporter) => Promise<FileReport>;

/**
 * Checks that receivers would accept what the endpoints of a folder send, and stores the fingerprint of WEBHOOK_SECRET if there is none. Resolves with the function that stores them.
 * @throws CommandFailure if there is no such file, or the secret of an endpoint, there or stored already, is derived from another WEBHOOK_SECRET
 */
export async function openWebhooks(store: Store, config: Config, folder: string): Promise<ImportWebhooks> {
  const path = requireFile(folder, WEBHOOKS_FILE);
  const { poster, management } = webhookParts({ config, ...store });
  // nothing is posted
  poster.close();
  const { policy, signing } = management;
  if (!signing) throw new CommandFailure(`${NO_SECRET}; nothing was stored`);
  const { secret } = signing;
  for await (const { number, content } of ndjsonLines(path)) {
    const line = 'text' in content ? webhookRecord.safeParse(jsonOf(content.text)) : undefined;
    // a former secret that cannot sign is no reason to refuse: doctor names the endpoints that it was promised for
    if (!line?.success || secret.has(line.data.master)) continue;
    throw new CommandFailure(
      `${path}:${String(number)}: the secret of endpoint ${line.data.id} is derived from another WEBHOOK_SECRET, so its receiver would reject what is sent: nothing was stored; on all gateways, set WEBHOOK_SECRET or WEBHOOK_SECRET_PREVIOUS to that of the installation it comes from, or import without --webhooks and create it anew`,
    );
  }
  await secret.adopt().catch((error: unknown) => {
    throw error instanceof WrongSecretError ? new CommandFailure(`${error.message}; nothing was stored`) : error;
  });

  function read(content: Line['content']): { readonly record: WebhookRecord } | { readonly faults: readonly Fault[] } {
    if ('fault' in content) return { faults: [UNREADABLE[content.fault]] };
    const result = webhookRecord.safeParse(jsonOf(content.text));
    if (!result.success) return { faults: [faultOf(result.error)] };
    const unknown = result.data.types.findIndex((type) => !EVENT_TYPES.has(type));
    if (unknown !== -1)
      return {
        faults: [{ pointer: `/types/${String(unknown)}`, code: 'not_allowed', detail: 'is no type of event here' }],
      };
    try {
      return { record: { ...result.data, url: endpointUrl(result.data.url, policy).href } };
    } catch (error) {
      if (!(error instanceof RefusedAddress)) throw error;
      return { faults: [{ pointer: '/url', code: 'not_allowed', detail: error.message }] };
    }
  }

  return async (organisationId, reporter) => {
    const created: WebhookRecord[] = [];
    return importFile<WebhookRecord>(
      path,
      {
        name: 'webhooks',
        read,
        async store(records) {
          // once enabled, they begin with the oldest event that is kept
          const outcomes = await store.control.importEndpoints(organisationId, records, BEGINNING);
          if (!outcomes) throw notFound('organisation', organisationId);
          created.push(...records.filter((_record, at) => outcomes[at] === 'created'));
          return outcomes.map((outcome) =>
            outcome === 'created' || outcome === 'unchanged'
              ? { outcome, errors: [] }
              : { outcome: 'failed', errors: [REFUSED[outcome]] },
          );
        },
      },
      reporter,
    ).finally(() => {
      // also if a later batch failed
      sayHowToEnable(created);
    });
  };
}

/** Says that the endpoints send nothing, and how to enable those that were not disabled when they were exported. */
function sayHowToEnable(created: readonly WebhookRecord[]): void {
  if (created.length === 0) return;
  const enabled = created.filter(({ state }) => state !== 'disabled');
  const next =
    enabled.length === 0
      ? ''
      : ' To enable those that were enabled (they begin with the oldest event that is kept, such as those of this import; with --from now they do not):';
  say(`The imported webhook endpoints are disabled, so that nothing is posted twice.${next}`);
  for (const { id } of enabled) say(`  scopegate webhook enable ${id}`);
}
