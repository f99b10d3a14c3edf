import { trusted } from 'mongoose';
import * as z from 'zod';
import { isRange } from '../auth/addresses';
import type { ApiKey } from '../auth/keys';
import { MCP_ACCESS } from '../auth/principal';
import { allScopes, isScope } from '../auth/scopes';
import { nativeCollection } from '../mongo/native';
import { KEY_CUSTOMERS } from '../limits';
import { UUID } from '../units';
import type { Actor } from './auditEvents';
import type { ControlModels } from './models';
import { FOR_EARLIER_VERSIONS, holdOrganisation } from './organisationRows';

/*
 * Keys in exports: everything but the organisation. Secrets are not stored, so a file cannot contain any. Keys of apps are in none (eachOfPrograms):
 * their registration and tokens are those of this gateway (docs/decisions/oauth.md).
 */

const text = z.string().min(1).max(500);
const base64 = z.base64().min(1).max(200);
const uuid = z.string().regex(UUID, 'must be a UUID');
// in lower case, as parseKey reads the id from a key's text
const keyId = uuid.toLowerCase();
const ranges = z.array(text.refine(isRange, 'must be a CIDR range, e.g. 203.0.113.0/24'));
const time = z.iso.datetime().transform((value) => new Date(value));

export const keyRecord = z.strictObject({
  id: keyId,
  name: text,
  prefix: text,
  last_four: z.string().length(4),
  salt: base64,
  hash: base64,
  /** The pepper's number; missing for the first. Whoever calls importKeys has turned it into the number here (adoptFrom in pepper.ts). */
  pepper: z.int().min(0).optional(),
  scopes: z.array(z.string().refine(isScope, { error: () => `must be one of ${allScopes().join(', ')}` })),
  created_by: text,
  created_at: time,
  expires_at: time.nullable(),
  revoked_at: time.nullable(),
  last_used_at: time.nullable(),
  last_used_from: text.nullable(),
  allowed_ranges: ranges,
  restricted: z
    // ids not put in lower case, since the hash covers their text
    .strictObject({ customer_ids: z.array(uuid).min(1).max(KEY_CUSTOMERS), allowed_ranges: ranges })
    .optional(),
  rotated_to: keyId.nullable(),
  mcp: z.enum(MCP_ACCESS).optional(),
});

export type KeyRecord = z.output<typeof keyRecord>;

/** A key as a record, with its members in the order of the file. */
export function toKeyRecord({ _id: id, ...key }: ApiKey): Readonly<Record<string, unknown>> {
  const all: Readonly<Record<string, unknown>> = { id, ...key };
  return Object.fromEntries(Object.keys(keyRecord.shape).map((member) => [member, all[member]]));
}

/** What became of a key: it was stored; it exists, or has ended here and was deleted; or its id belongs to a key of another organisation. */
export type KeyOutcome = 'created' | 'unchanged' | 'foreign';

/**
 * Returns a function that stores exported keys, with ids that differ, in one transaction, and resolves with what became of each, in their order; undefined if there is no
 * such organisation. Existing keys stay as they are. A key that the audit log names but that is gone has ended here, and is not stored: one that was
 * revoked since the export must not work again. The `active_keys` of the plan do not limit it: a restored organisation gets all that it had.
 */
export function importKeys(models: ControlModels, actor: Actor) {
  return (organisationId: string, records: readonly KeyRecord[]): Promise<KeyOutcome[] | undefined> =>
    models.change(async (session, record) => {
      const organisation = await holdOrganisation(models, organisationId, session);
      if (!organisation) return undefined;
      const ids = trusted({ $in: records.map(({ id }) => id) });
      const storedKeys = await models.apiKeys.find({ _id: ids }, undefined, { session }).lean();
      const owners = new Map(storedKeys.map(({ _id, organisation: owner }) => [_id, owner.id]));
      const missing = records.filter(({ id }) => !owners.has(id)).map(({ id }) => id);
      const namedInAudit = [
        { $match: { organisation_id: organisationId, key_id: { $in: missing } } },
        { $group: { _id: '$key_id' } },
      ];
      const gone = await nativeCollection(models.auditEvents)
        .aggregate<{ _id: string }>(namedInAudit, { session })
        .toArray();
      const ended = new Set(gone.map(({ _id }) => _id));
      const created = records.filter(({ id }) => !owners.has(id) && !ended.has(id));
      const ownerFields = { ...organisation, ...FOR_EARLIER_VERSIONS };
      const documents = created.map(({ id, ...key }) => ({ _id: id, organisation: ownerFields, ...key }));
      if (documents.length > 0) {
        await models.apiKeys.insertMany(documents, { session });
        await record(actor, 'keys.imported', organisationId, { keys: created.map(({ id }) => id) });
      }
      return records.map(({ id }): KeyOutcome => {
        const owner = owners.get(id);
        if (owner === undefined) return ended.has(id) ? 'unchanged' : 'created';
        return owner === organisationId ? 'unchanged' : 'foreign';
      });
    });
}
