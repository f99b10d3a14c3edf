import type { mongo } from 'mongoose';
import * as z from 'zod';
import type { Plans } from '../auth/plans';
import { nativeCollection } from '../mongo/native';
import { KEY_CUSTOMERS } from '../limits';
import { UUID } from '../units';
import type { Actor } from './auditEvents';
import type { ControlModels } from './models';
import { holdOrganisation } from './organisationRows';
import { newEndpoint } from './webhookEndpoints';
import { ENDPOINT_STATES, type EndpointRow, ownerOf, ownersOf } from './webhookRows';

/*
 * Webhook endpoints in exports. Secrets are not stored, but follow from id, version and master secret, so an endpoint that is imported where
 * the master secret is the same has the secret that its receiver knows.
 */

const uuid = z.string().regex(UUID, 'must be a UUID').toLowerCase();
const text = z.string().min(1).max(2000);
const fingerprint = z.base64().min(1).max(100);
const time = z.iso.datetime().transform((value) => new Date(value));

export const webhookRecord = z.strictObject({
  id: uuid,
  url: text,
  types: z.array(text).max(1000),
  /** Missing of one for all customers: versions before 1.0 refuse a line that has it, which they could not restrict. */
  customer_ids: z.array(uuid).min(1).max(KEY_CUSTOMERS).optional(),
  /** When it was exported; it is imported disabled. */
  state: z.enum(ENDPOINT_STATES),
  version: z.int().min(1),
  /** Fingerprint of the master secret of its current secret, and of the secret before. */
  master: fingerprint,
  former_master: fingerprint.nullable(),
  rotated_at: time.nullable(),
  created_by: text,
  created_at: time,
});

export type WebhookRecord = z.output<typeof webhookRecord>;

/** An endpoint as a record. `unnamed` is the fingerprint of the master secret of endpoints that name none, which earlier versions made. */
export function toWebhookRecord(
  { _id: id, ...row }: EndpointRow,
  unnamed: string | undefined,
): Readonly<Record<string, unknown>> {
  const { master = unnamed, former_master = row.version > 1 ? (unnamed ?? null) : null } = row;
  const all: Readonly<Record<string, unknown>> = { id, ...row, master, former_master };
  return Object.fromEntries(Object.keys(webhookRecord.shape).map((member) => [member, all[member]]));
}

/** What became of an endpoint: it was stored; it exists; its id belongs to one of another organisation; or there are too many. */
export type EndpointOutcome = 'created' | 'unchanged' | 'foreign' | 'too_many';

/**
 * Returns a function that stores exported endpoints, with ids that differ, disabled and at a position in the feed, in one transaction, and resolves
 * with what became of each, in their order; undefined if there is no such organisation. Existing endpoints stay as they are.
 */
export function importEndpoints(models: ControlModels, actor: Actor, plans: Plans, now: () => number) {
  const rows: mongo.Collection<EndpointRow> = nativeCollection(models.webhookEndpoints);
  return (
    organisationId: string,
    records: readonly WebhookRecord[],
    position: string,
  ): Promise<EndpointOutcome[] | undefined> =>
    models.change(async (session, record) => {
      // writes the organisation's row, so that two imports cannot both take the last place
      const organisation = await holdOrganisation(models, organisationId, session);
      if (!organisation) return undefined;
      const most = plans.of(organisation).webhook_endpoints;
      const ids = { _id: { $in: records.map(({ id }) => id) } };
      const stored = await rows.find(ids, { session, projection: { organisation_id: 1 } }).toArray();
      const owners = new Map(stored.map((row) => [row._id, ownerOf(row)]));
      let count = await rows.countDocuments(
        { organisation_id: ownersOf([organisationId]) },
        { session, limit: most + 1 },
      );
      const outcomes: EndpointOutcome[] = [];
      for (const { id, state, former_master, customer_ids, ...members } of records) {
        const owner = owners.get(id);
        if (owner !== undefined) outcomes.push(owner === organisationId ? 'unchanged' : 'foreign');
        else if (count >= most) outcomes.push('too_many');
        else {
          const at = new Date(now());
          const disabled = { state: 'disabled', disabled: { reason: 'by_hand', at } } as const;
          // a disabled endpoint has no `due`
          const { due: _due, ...row } = newEndpoint(
            { organisationId, customerIds: customer_ids, position, ...members },
            at,
          );
          await rows.insertOne(
            // again the record's, as newEndpoint sets some of them
            { ...row, ...members, ...(former_master !== null && { former_master }), ...disabled, _id: id },
            { session },
          );
          const { url, types } = members;
          await record(actor, 'webhook.created', organisationId, {
            endpoint: id,
            url,
            types,
            ...(customer_ids && { customer_ids }),
            imported: true,
            exported_as: state,
          });
          count += 1;
          outcomes.push('created');
        }
      }
      return outcomes;
    });
}
