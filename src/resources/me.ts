import { modeOf } from '../auth/principal';
import type { DataContext } from '../operations/context';

/** A rate limit as the API shows it. */
const shownLimit = ({ limit, remaining, resetAt: reset_at }: Omit<DataContext['rate'], 'organisation'>) => ({
  limit,
  remaining,
  reset_at,
});

export const meResolvers = {
  Query: {
    me: (_: unknown, __: unknown, { principal, plan, rate }: DataContext) => {
      return {
        mode: modeOf(principal.organisation),
        organisation: { ...principal.organisation, limits: plan },
        key: {
          id: principal.key.id,
          name: principal.key.name,
          prefix: principal.key.displayPrefix,
          scopes: [...principal.scopes],
          expires_at: principal.key.expiresAt,
          mcp: principal.key.mcp,
          customer_ids: principal.key.customerIds ?? null,
        },
        rate_limit: shownLimit(rate),
        // the organisation's is always known, since an answered request was within both limits
        organisation_rate_limit: shownLimit(rate.organisation ?? rate),
      };
    },
  },
};
