import { LRUCache } from 'lru-cache';
import { type MasterSecret, OVERLAP, WrongSecretError } from './masterSecret';
import { secretText } from '../auth/webhookSecrets';
import { endpointSecret, signedHeaders } from './signing';
import type { Mode } from '../auth/principal';
import type { ShownEvent } from '../events/page';
import type { EndpointRow } from '../organisations/webhookRows';
import { version } from '../package';
import type { Attempt, Poster } from './post';

/* Signs an event and sends it to an endpoint. */

/** Secrets kept, so that not every post derives its own: about 0.2 MB. */
const MAX_CACHED = 1000;

/** What the current secret of an endpoint is derived from, and whether the one before is still used. */
type SecretVersion = Pick<EndpointRow, '_id' | 'version' | 'rotated_at' | 'master' | 'former_master'>;

/** Until when deliveries are also signed with the replaced secret; null if they are not. */
export function oldSecretUntil({ version: number, rotated_at: at }: SecretVersion, now: number): Date | null {
  if (number < 2 || !at) return null;
  const until = new Date(at.getTime() + OVERLAP);
  return until.getTime() > now ? until : null;
}

/** The headers and the body of a webhook, signed at a time in milliseconds since 1970. */
export function signedPost(event: ShownEvent, mode: Mode, secrets: readonly Buffer[], now: number) {
  const body = JSON.stringify(event);
  const message = { id: event.id, timestamp: Math.floor(now / 1000), body };
  const headers = {
    'content-type': 'application/json',
    'user-agent': `Scopegate-Webhooks/${version}`,
    ...(mode === 'test' && { 'scopegate-mode': mode }),
    ...signedHeaders(message, secrets),
  };
  return { headers, body };
}

export type Sender = ReturnType<typeof createSender>;

/** `now` gives the time that is signed, in milliseconds since 1970. */
export function createSender({ masterOf }: Pick<MasterSecret, 'masterOf'>, poster: Poster, now: () => number) {
  // deriving a secret takes as long as everything else before a post is sent
  const secrets = new LRUCache<string, Buffer, readonly [master: string, id: string, version: number]>({
    max: MAX_CACHED,
    memoMethod: (_key, _old, { context }) => endpointSecret(...context),
  });

  /** A version of an endpoint's secret; undefined if it is derived from a master secret that this gateway does not have. */
  async function secretOf(id: string, version: number, fingerprint: string | undefined): Promise<Buffer | undefined> {
    const master = await masterOf(fingerprint);
    return master === undefined
      ? undefined
      : // the key needs no master secret: a version of an endpoint's secret is derived from one for good
        secrets.memo(`${id} ${String(version)}`, { context: [master, id, version] });
  }

  async function currentSecret({ _id: id, version: number, master }: SecretVersion): Promise<Buffer> {
    const secret = await secretOf(id, number, master);
    if (!secret) throw new WrongSecretError();
    return secret;
  }

  async function secretsOf(row: SecretVersion): Promise<Buffer[]> {
    const current = await currentSecret(row);
    const former = oldSecretUntil(row, now()) && (await secretOf(row._id, row.version - 1, row.former_master));
    return former ? [current, former] : [current];
  }

  return {
    /** The current secret of an endpoint, as people see it. @throws WrongSecretError */
    secretOf: async (row: SecretVersion): Promise<string> => secretText(await currentSecret(row)),
    /** @throws WrongSecretError */
    async send(row: SecretVersion & Pick<EndpointRow, 'url'>, event: ShownEvent, mode: Mode): Promise<Attempt> {
      return poster.post({ url: row.url, ...signedPost(event, mode, await secretsOf(row), now()) });
    },
  };
}
