import type { RequestContext } from '../../context';
import type { UpsertResult } from '../common/upsert';
import { upsertCustomers } from './upsert';

interface UpsertArguments {
  /** Not validated yet: each element is validated individually. */
  readonly customers: readonly unknown[];
  readonly atomic?: boolean | null;
  readonly dry_run?: boolean | null;
}

export const customerResolvers = {
  Mutation: {
    upsert_customers: (_: unknown, args: UpsertArguments, context: RequestContext) =>
      upsertCustomers(context.data, args.customers, {
        atomic: args.atomic ?? false,
        dryRun: args.dry_run ?? false,
        write: context.write,
        check: (element) => context.checkElement('CustomerUpsert', element),
      }),
  },
  CustomerUpsertResult: { external_ref: (result: UpsertResult) => result.key },
};
