import { hkdfSync } from 'node:crypto';
import type { Databases } from '../database/connect';
import type { Control } from '../organisations/control';

/* Which WEBHOOK_SECRET the secrets of endpoints are derived from: with another one every receiver would reject what it gets. */

interface Fingerprint {
  readonly _id: 'webhook_secret';
  /** Base64; it says nothing of the secret, which cannot be guessed. */
  readonly check: string;
}

export const OTHER_SECRET =
  'WEBHOOK_SECRET is not the one that the existing webhook endpoints have their secrets from, so receivers would reject what is sent';
/** What to do about it. */
export const RESTORE_SECRET = 'set it to its former value, or delete all webhook endpoints first';

export class WrongSecretError extends Error {
  override readonly name = 'WrongSecretError';

  constructor() {
    super(`${OTHER_SECRET}; ${RESTORE_SECRET}`);
  }
}

interface Guarded {
  readonly databases: Pick<Databases, 'control'>;
  readonly control: Pick<Control, 'webhooks'>;
}

export type MasterSecret = ReturnType<typeof masterSecret>;

export function masterSecret({ databases: { control }, control: { webhooks } }: Guarded, master: string) {
  const rows = control.getClient().db(control.name).collection<Fingerprint>('deployment');
  const check = Buffer.from(hkdfSync('sha256', master, 'scopegate webhooks', 'fingerprint', 16)).toString('base64');
  return {
    /** Whether the endpoints that exist have their secrets from this one. */
    async fits(): Promise<boolean> {
      const known = await rows.findOne({ _id: 'webhook_secret' });
      return !known || known.check === check || !(await webhooks.any());
    },
    /** Stores its fingerprint before the first endpoint is made. @throws WrongSecretError */
    async adopt(): Promise<void> {
      for (;;) {
        const known = await rows.findOneAndUpdate(
          { _id: 'webhook_secret' },
          { $setOnInsert: { check } },
          { upsert: true, returnDocument: 'after' },
        );
        if (!known || known.check === check) return;
        if (await webhooks.any()) throw new WrongSecretError();
        await rows.updateOne({ _id: 'webhook_secret', check: known.check }, { $set: { check } });
      }
    },
  };
}
