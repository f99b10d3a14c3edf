import { randomUUID } from 'node:crypto';
import type { mongo } from 'mongoose';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { type ApiKey, DEFAULT_KEY_PREFIX, parseKey, secretMatches } from '../../src/auth/keys';
import { PEPPER } from '../keys';

/* A reasonable hand-written check in front of bare driver calls: one indexed read and one HMAC per key, and a rate limiter. */

const LIMIT = 1_000_000_000;
const WINDOW_SECONDS = 60;

export interface Admission {
  readonly status: 200 | 401 | 403 | 429;
  readonly organisationId: string;
  readonly headers: Readonly<Record<string, string | number>>;
}

export type Admit = (authorization: string | undefined, scope: string) => Promise<Admission>;

export function createAdmission(client: mongo.MongoClient, controlDatabase: string): Admit {
  const keys = client.db(controlDatabase).collection<ApiKey>('api_keys');
  const limiter = new RateLimiterMemory({ points: LIMIT, duration: WINDOW_SECONDS });
  return async (authorization, scope) => {
    const headers: Record<string, string | number> = { 'X-Request-Id': randomUUID() };
    const refused = (status: Admission['status']): Admission => ({ status, organisationId: '', headers });
    const token = authorization?.startsWith('Bearer ') === true ? authorization.slice(7) : '';
    const parsed = parseKey(token, DEFAULT_KEY_PREFIX);
    if (!parsed) return refused(401);
    const key = (await keys.findOne({ _id: parsed.id })) ?? undefined;
    if (!secretMatches(parsed.secret, key, PEPPER) || !key || !isLive(key)) return refused(401);
    const rate = await limiter.consume(key._id).catch((refusal: unknown) => refusal as RateLimiterRes);
    const seconds = Math.max(1, Math.ceil(rate.msBeforeNext / 1000));
    const remaining = Math.max(0, rate.remainingPoints);
    headers['RateLimit-Policy'] = `"default";q=${String(LIMIT)};w=${String(WINDOW_SECONDS)}`;
    headers.RateLimit = `"default";r=${String(remaining)};t=${String(seconds)}`;
    headers['X-RateLimit-Limit'] = LIMIT;
    headers['X-RateLimit-Remaining'] = remaining;
    headers['X-RateLimit-Reset'] = Math.ceil((Date.now() + rate.msBeforeNext) / 1000);
    if (rate.remainingPoints < 0) return refused(429);
    const mayCall = key.organisation.plan !== 'starter' && (key.scopes as readonly string[]).includes(scope);
    return { status: mayCall ? 200 : 403, organisationId: key.organisation.id, headers };
  };
}

function isLive(key: ApiKey): boolean {
  return key.revoked_at === null && (key.expires_at === null || key.expires_at.getTime() > Date.now());
}
