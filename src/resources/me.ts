import { modeOf } from '../auth/principal';
import type { DataContext } from '../operations/context';

const shown = ({ limit, remaining, resetAt: reset_at }: Omit<DataContext['rate'], 'organisation'>) => ({
  limit,
  remaining,
  reset_at,
});

export const meResolvers = {
  Query: {
    me: (_: unknown, __: unknown, { principal, rate }: DataContext) => {
      // the guard admits only keys
      return {
        mode: modeOf(principal.organisation),
        organisation: principal.organisation,
        key: {
          id: principal.key.id,
          name: principal.key.name,
          prefix: principal.key.prefix,
          scopes: [...principal.scopes],
          expires_at: principal.key.expiresAt,
          mcp: principal.key.mcp,
        },
        rate_limit: shown(rate),
        // an answered request was within both limits, so the organisation's is known
        organisation_rate_limit: shown(rate.organisation ?? rate),
      };
    },
  },
};
