import { randomUUID } from 'node:crypto';
import { trusted } from 'mongoose';
import { siteBucket } from '../auth/addresses';
import { digestOf, isDigestOf } from '../auth/digest';
import { newSecret } from '../auth/keys';
import { DAY, HOUR, UUID } from '../units';
import type { ClientRow } from './appRows';
import type { ControlModels } from './models';

/* Registered apps (docs/decisions/oauth.md). Anyone may register one, so those that no admin has allowed are few and end soon. */

/** How long a registration that nobody allowed is kept, in milliseconds. */
const UNUSED_KEPT = DAY;
/** How long such a registration is kept from when an admin is asked about it, in milliseconds: as long as a session without use (SESSION_LIMITS). */
const ASKED_KEPT = HOUR;
/** The most registrations kept that nobody allowed. Of more, those from the site that made most of them are deleted, oldest first. */
export const MAX_UNUSED_CLIENTS = 1000;
/** The most of these deleted after each registration, so that none waits long. */
const AT_ONCE = 100;

export type NewClient = Pick<ClientRow, 'name' | 'redirect_uris' | 'authentication'>;

export interface Registered {
  readonly client: ClientRow;
  /** Undefined if it authenticates without one. */
  readonly secret: string | undefined;
}

export function createAppClients({ clients }: Pick<ControlModels, 'clients'>, now: () => number) {
  /** Deletes registrations beyond {@link MAX_UNUSED_CLIENTS}. */
  async function trim(): Promise<void> {
    // `$not` also matches rows without the member
    const unused = { allowed_at: null, kept_until: trusted({ $not: { $gt: new Date(now()) } }) };
    const oldest = clients.find(unused, { registered_from: 1 }).sort({ created_at: 1 });
    const rows = await oldest.limit(MAX_UNUSED_CLIENTS + AT_ONCE).lean();
    const surplus = rows.length - MAX_UNUSED_CLIENTS;
    if (surplus <= 0) return;
    const counts = new Map<string | undefined, number>();
    for (const { registered_from: from } of rows) counts.set(from, (counts.get(from) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const busiest = rows.filter(({ registered_from: from }) => counts.get(from) === most).slice(0, surplus);
    await clients.deleteMany({ ...unused, _id: trusted({ $in: busiest.map(({ _id }) => _id) }) });
  }

  async function find(id: string): Promise<ClientRow | undefined> {
    if (!UUID.test(id)) return undefined;
    // the TTL index deletes up to a minute late
    return (await clients.findOne({ _id: id, ends_at: trusted({ $gt: new Date(now()) }) }).lean()) ?? undefined;
  }

  return {
    find,
    /** Registers an app from a network address. Its secret, if it has one, is stored nowhere. */
    async register(input: NewClient, from: string): Promise<Registered> {
      const secret = input.authentication === 'none' ? undefined : newSecret();
      const created_at = new Date(now());
      const ends_at = new Date(created_at.getTime() + UNUSED_KEPT);
      const client = {
        _id: randomUUID(),
        ...input,
        secret: secret === undefined ? null : digestOf(secret),
        registered_from: digestOf(siteBucket(from)),
        created_at,
        allowed_at: null,
        ends_at,
      };
      await clients.create([client]);
      await trim();
      return { client, secret };
    },
    /** A registered app, if it gave its secret, or has none and gave none; otherwise undefined. An empty secret is none. */
    async authenticate(id: string, secret = ''): Promise<ClientRow | undefined> {
      const client = await find(id);
      if (!client || client.secret === null) return secret === '' ? client : undefined;
      return isDigestOf(secret, client.secret) ? client : undefined;
    },
    /** Keeps a registration while an admin is asked about it, so that others cannot crowd it out. */
    async keepDuringConsent(id: string): Promise<void> {
      const until = new Date(now() + ASKED_KEPT);
      await clients.updateOne({ _id: id }, { $max: { ends_at: until, kept_until: until } });
    },
    /** Keeps a registration that an admin allowed until a time, or longer if it already is. */
    async keep(id: string, until: Date): Promise<void> {
      await clients.updateOne({ _id: id }, { $max: { ends_at: until }, $set: { allowed_at: new Date(now()) } });
    },
  };
}
