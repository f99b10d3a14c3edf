import { hkdfSync } from 'node:crypto';
import type { Databases } from '../tenant/databases';
import type { Control } from '../organisations/control';

/* Detects a changed WEBHOOK_SECRET: endpoints' secrets are derived from it, so receivers would reject every delivery. */

interface Fingerprint {
  readonly _id: 'webhook_secret';
  /** Derived from the secret, base64. Reveals nothing about it, since the secret cannot be guessed. */
  readonly check: string;
}

export const OTHER_SECRET =
  'WEBHOOK_SECRET does not match the existing webhook endpoints, so receivers would reject what is sent';
export const RESTORE_SECRET = 'set it to its former value, or delete all webhook endpoints first';

export class WrongSecretError extends Error {
  override readonly name = 'WrongSecretError';

  constructor() {
    super(`${OTHER_SECRET}; ${RESTORE_SECRET}`);
  }
}

interface MasterSecretStores {
  readonly databases: Pick<Databases, 'control'>;
  readonly control: Pick<Control, 'webhooks'>;
}

export type MasterSecret = ReturnType<typeof createMasterSecret>;

export function createMasterSecret(
  { databases: { control }, control: { webhooks } }: MasterSecretStores,
  master: string,
) {
  const rows = control.getClient().db(control.name).collection<Fingerprint>('deployment');
  const check = Buffer.from(hkdfSync('sha256', master, 'scopegate webhooks', 'fingerprint', 16)).toString('base64');
  return {
    /** Whether the secrets of existing endpoints are derived from this master secret. */
    async fits(): Promise<boolean> {
      const row = await rows.findOne({ _id: 'webhook_secret' });
      return !row || row.check === check || !(await webhooks.any());
    },
    /** Stores the master secret's fingerprint, unless there are endpoints with another: call it before an endpoint is created. @throws WrongSecretError */
    async adopt(): Promise<void> {
      for (;;) {
        const row = await rows.findOneAndUpdate(
          { _id: 'webhook_secret' },
          { $setOnInsert: { check } },
          { upsert: true, returnDocument: 'after' },
        );
        if (!row || row.check === check) return;
        if (await webhooks.any()) throw new WrongSecretError();
        await rows.updateOne({ _id: 'webhook_secret', check: row.check }, { $set: { check } });
      }
    },
  };
}
