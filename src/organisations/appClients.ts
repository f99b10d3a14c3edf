import { randomUUID } from 'node:crypto';
import { trusted } from 'mongoose';
import { digestOf, isDigestOf, newSecret } from '../auth/appTokens';
import { DAY, UUID } from '../units';
import type { ClientRow } from './appRows';
import type { ControlModels } from './models';

/* Registered apps (docs/decisions/oauth.md). Anyone may register one, so those that no admin has allowed are few and end soon. */

/** How long a registration that nobody allowed is kept, in milliseconds. */
const UNUSED_KEPT = DAY;
/** Registrations that nobody allowed: the oldest beyond these go first. */
export const MAX_UNUSED_CLIENTS = 1000;
/** Those deleted after each registration, so that none waits long. */
const AT_ONCE = 100;

export type NewClient = Pick<ClientRow, 'name' | 'redirect_uris' | 'authentication'>;

export function createAppClients({ clients }: Pick<ControlModels, 'clients'>, now: () => number) {
  async function trim(): Promise<void> {
    const unused = clients.find({ allowed_at: null }, { _id: 1 }).sort({ created_at: -1 });
    const surplus = await unused.skip(MAX_UNUSED_CLIENTS).limit(AT_ONCE).lean();
    if (surplus.length === 0) return;
    await clients.deleteMany({ _id: trusted({ $in: surplus.map(({ _id }) => _id) }), allowed_at: null });
  }

  /** A registered app; undefined if there is none. */
  async function find(id: string): Promise<ClientRow | undefined> {
    if (!UUID.test(id)) return undefined;
    // the TTL index deletes up to a minute late
    return (await clients.findOne({ _id: id, ends_at: trusted({ $gt: new Date(now()) }) }).lean()) ?? undefined;
  }

  return {
    find,
    /** Registers an app. Its secret, if it has one, is stored nowhere. */
    async register(input: NewClient): Promise<{ readonly client: ClientRow; readonly secret: string | undefined }> {
      const secret = input.authentication === 'none' ? undefined : newSecret();
      const created_at = new Date(now());
      const ends_at = new Date(created_at.getTime() + UNUSED_KEPT);
      const digest = secret === undefined ? null : digestOf(secret);
      const client = { _id: randomUUID(), ...input, secret: digest, created_at, allowed_at: null, ends_at };
      await clients.create([client]);
      await trim();
      return { client, secret };
    },
    /** A registered app that has proved who it is, which those without a secret need not; otherwise undefined. An empty secret is none. */
    async authenticate(id: string, secret = ''): Promise<ClientRow | undefined> {
      const client = await find(id);
      if (!client || client.secret === null) return secret === '' ? client : undefined;
      return isDigestOf(secret, client.secret) ? client : undefined;
    },
    /** Keeps a registration for as long as a key that was made for it. */
    async keep(id: string, until: Date): Promise<void> {
      await clients.updateOne({ _id: id }, { $max: { ends_at: until }, $set: { allowed_at: new Date(now()) } });
    },
  };
}
