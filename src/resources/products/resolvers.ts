import type { RequestContext } from '../../context';
import { type UpsertArguments, upsertOptions, type UpsertResult } from '../common/upsert';
import { upsertProducts } from './upsert';

export const productResolvers = {
  Mutation: {
    upsert_products: (
      _: unknown,
      args: UpsertArguments & { readonly products: readonly unknown[] },
      context: RequestContext,
    ) =>
      upsertProducts(context.data, args.products, {
        ...upsertOptions('ProductUpsert', args, context),
        currency: context.principal.organisation.currency,
      }),
  },
  ProductUpsertResult: { sku: (result: UpsertResult) => result.key },
};
