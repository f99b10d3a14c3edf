import type { RequestContext } from '../../context';
import type { UpsertResult } from '../common/upsert';
import { upsertProducts } from './upsert';

interface UpsertArguments {
  /** Not validated yet: each element is validated individually. */
  readonly products: readonly unknown[];
  readonly atomic?: boolean | null;
  readonly dry_run?: boolean | null;
}

export const productResolvers = {
  Mutation: {
    upsert_products: (_: unknown, args: UpsertArguments, context: RequestContext) =>
      upsertProducts(context.data, args.products, {
        atomic: args.atomic ?? false,
        dryRun: args.dry_run ?? false,
        write: context.write,
        currency: context.principal.organisation.currency,
        check: (element) => context.checkElement('ProductUpsert', element),
      }),
  },
  ProductUpsertResult: { sku: (result: UpsertResult) => result.key },
};
