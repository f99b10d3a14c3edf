import type { Role } from '../auth/roles';
import type { Config } from '../config';
import { AppError } from '../errors';

/* Who sees the figures of an organisation (docs/decisions/insights.md). */

type Insights = Config['INSIGHTS'];

/** Why a role sees no figures; undefined if it sees them. */
export function whyNoInsights(setting: Insights, role: Role): string | undefined {
  if (setting === 'off') return 'Insights are off on this gateway.';
  return setting === 'admins' && role !== 'admin' ? 'Only admins of the organisation see its figures.' : undefined;
}

/** @throws AppError forbidden */
export function requireInsights(setting: Insights, role: Role): void {
  const reason = whyNoInsights(setting, role);
  if (reason !== undefined) throw new AppError('forbidden', reason);
}
