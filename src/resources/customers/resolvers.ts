import type { RequestContext } from '../../context';
import { type UpsertArguments, upsertOptions, type UpsertResult } from '../common/upsert';
import { upsertCustomers } from './upsert';

export const customerResolvers = {
  Mutation: {
    upsert_customers: (
      _: unknown,
      args: UpsertArguments & { readonly customers: readonly unknown[] },
      context: RequestContext,
    ) =>
      upsertCustomers(context.data, args.customers, {
        ...upsertOptions('CustomerUpsert', args, context),
      }),
  },
  CustomerUpsertResult: { external_ref: (result: UpsertResult) => result.key },
};
