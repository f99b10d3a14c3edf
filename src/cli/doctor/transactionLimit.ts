import { type Check } from './check';
import type { Store } from '../common/open';

/** Above this many seconds, doctor warns. */
const MOST = 15;
const NAME = 'transaction limit';

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
  const long = known.filter(({ seconds }) => seconds > MOST).map(({ cluster }) => cluster);
  return { name: NAME, ok: true, detail, ...(long.length > 0 && { fix: fixOf(long) }) };
}

function fixOf(clusters: readonly string[]): string {
  const noun = clusters.length === 1 ? 'cluster' : 'clusters';
  return `set transactionLifetimeLimitSeconds to ${String(MOST)} on the servers of ${noun} ${clusters.join(', ')} (mongod --setParameter), so that documents of a killed process are not locked for longer`;
}
