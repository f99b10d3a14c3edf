import { type Check } from './check';
import type { Store } from '../common/open';

/** Above this many seconds, doctor warns. */
const MOST = 15;
const NAME = 'transaction limit';
const FIX = `set transactionLifetimeLimitSeconds to ${String(MOST)} on those servers (mongod --setParameter), so that documents of a killed process are not locked for longer`;

/**
 * How long each cluster that responds keeps the transaction of a dead process. Only a warning, since gateways end those of
 * other gateways; undefined if no cluster tells.
 */
export async function checkTransactionLimit({ databases }: Store): Promise<Check | undefined> {
  const limits = await Promise.all(
    databases.clusters.map(async (cluster) => ({ cluster, seconds: await databases.transactionLimit(cluster) })),
  );
  const known = limits.filter(({ seconds }) => seconds !== undefined) as { cluster: string; seconds: number }[];
  if (known.length === 0) return undefined;
  const detail = known.map(({ cluster, seconds }) => `${cluster} ${String(seconds)} s`).join(', ');
  const isLong = known.some(({ seconds }) => seconds > MOST);
  return { name: NAME, ok: true, detail, ...(isLong && { fix: FIX }) };
}
