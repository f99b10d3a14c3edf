import { hkdfSync } from 'node:crypto';
import type { Databases } from '../tenant/databases';
import type { Control } from '../organisations/control';
import type { Sample } from '../organisations/webhookEndpoints';
import { DAY } from '../units';

/*
 * The master secrets, from which the secrets of endpoints are derived (docs/decisions/webhooks.md). A fingerprint in the row of each endpoint says
 * from which one; rows without one, which earlier versions made, have the fingerprint in the collection `deployment`.
 */

/** How long deliveries are also signed with a replaced secret, in milliseconds. */
export const OVERLAP = DAY;

/** Endpoints whose posts are to be signed by a replaced secret, too. */
export interface Overlap extends Sample {
  /** When the last of them ends that; undefined if there are none. */
  readonly until: Date | undefined;
}

interface Fingerprint {
  readonly _id: 'webhook_secret';
  /** Of the master secret of the endpoints that name none. */
  readonly check: string;
}

/** WEBHOOK_SECRET, from which new secrets are derived, and WEBHOOK_SECRET_PREVIOUS. */
export interface Masters {
  readonly current: string;
  readonly previous?: string | undefined;
}

export const OTHER_SECRET =
  'WEBHOOK_SECRET does not match the existing webhook endpoints, so receivers would reject what is sent';
export const RESTORE_SECRET =
  'set it to its former value; to replace it, set WEBHOOK_SECRET_PREVIOUS to the former value, or delete all webhook endpoints first';

/** What is wrong while former secrets no longer sign, although receivers were told that they would; undefined if nothing is. */
export function cutShortText({ count, until }: Overlap): string | undefined {
  if (!until) return undefined;
  const endpoints = count === 1 ? '1 endpoint was' : `${String(count)} endpoints were`;
  return `${endpoints} rotated, and posts are no longer also signed with the previous secret, as promised until ${until.toISOString()}`;
}
/** What to do about it. */
export const RESTORE_PREVIOUS =
  'set WEBHOOK_SECRET_PREVIOUS to the former WEBHOOK_SECRET on every gateway until then, unless it leaked';

export class WrongSecretError extends Error {
  override readonly name = 'WrongSecretError';

  constructor() {
    super(`${OTHER_SECRET}; ${RESTORE_SECRET}`);
  }
}

/** Identifies a master secret, in base64. Reveals nothing about it, since the secret cannot be guessed. */
function checkOf(master: string): string {
  return Buffer.from(hkdfSync('sha256', master, 'scopegate webhooks', 'fingerprint', 16)).toString('base64');
}

const fingerprintsOf = ({ control }: Pick<Databases, 'control'>) =>
  control.getClient().db(control.name).collection<Fingerprint>('deployment');

/** The fingerprint of the master secret of the endpoints that name none; undefined if there never were endpoints. */
export async function unnamedMaster(databases: Pick<Databases, 'control'>): Promise<string | undefined> {
  return (await fingerprintsOf(databases).findOne({ _id: 'webhook_secret' }))?.check;
}

interface MasterSecretStores {
  readonly databases: Pick<Databases, 'control' | 'now'>;
  readonly control: Pick<Control, 'webhooks'>;
}

export type MasterSecret = ReturnType<typeof createMasterSecret>;

export function createMasterSecret(
  { databases, control: { webhooks } }: MasterSecretStores,
  { current, previous }: Masters,
) {
  const rows = fingerprintsOf(databases);
  const check = checkOf(current);
  const known = previous === undefined ? [check] : [check, checkOf(previous)];

  /** These fingerprints, and null if one is that of the endpoints that name none. */
  async function namesOf(fingerprints: readonly string[]): Promise<(string | null)[]> {
    const row = await rows.findOne({ _id: 'webhook_secret' });
    return !row || fingerprints.includes(row.check) ? [...fingerprints, null] : [...fingerprints];
  }

  let unnamed: string | undefined;

  /** Whether the secrets of all existing endpoints are derived from one of these master secrets. */
  const fits = async (): Promise<boolean> => !(await webhooks.any({ except: await namesOf(known) }));

  /** The endpoints that were promised signatures by a former secret, which is derived from none of these master secrets. */
  async function overlap(fingerprints: readonly string[]): Promise<Overlap> {
    const sample = await webhooks.formerExcept(await namesOf(fingerprints), new Date(databases.now() - OVERLAP));
    const last = sample.rows[0]?.rotated_at;
    return { ...sample, until: last ? new Date(last.getTime() + OVERLAP) : undefined };
  }

  return {
    fits,
    /** The fingerprint that new secrets are stored with. */
    check,
    /** Whether a fingerprint is that of one of these master secrets. */
    has: (fingerprint: string): boolean => known.includes(fingerprint),
    /** The master secret with a fingerprint, or that of the endpoints that name none; undefined if it is not one of these. */
    async masterOf(fingerprint: string | undefined): Promise<string | undefined> {
      // kept, since it changes only while there are no endpoints
      const wanted = fingerprint ?? (unnamed ??= await unnamedMaster(databases)) ?? check;
      if (wanted === check) return current;
      return known.includes(wanted) ? previous : undefined;
    },
    /** The endpoints that still have a secret that is derived from another than the current master secret. */
    outdated: async (): Promise<Sample> => webhooks.except(await namesOf([check])),
    /** Those that have a new secret, and are also signed with one that is derived from another than the current master secret. */
    overlapping: (): Promise<Overlap> => overlap([check]),
    /** Those that should be, but are not, because it is derived from none of these master secrets. */
    cutShort: (): Promise<Overlap> => overlap(known),
    /**
     * Call it before an endpoint is created or its secret replaced: without endpoints, it stores the fingerprint of the current master secret.
     * Two gateways with different ones may both pass when there is none yet; each new endpoint has its own fingerprint, and `fits` tells. @throws WrongSecretError if a secret is derived from none of these
     */
    async adopt(): Promise<void> {
      const row = await rows.findOneAndUpdate(
        { _id: 'webhook_secret' },
        { $setOnInsert: { check } },
        { upsert: true, returnDocument: 'after' },
      );
      if (!row || row.check === check) return;
      if (!(await fits())) throw new WrongSecretError();
      if (!(await webhooks.any()))
        await rows.updateOne({ _id: 'webhook_secret', check: row.check }, { $set: { check } });
    },
  };
}
