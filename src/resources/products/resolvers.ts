import type { RequestContext } from '../../context';
import type { ListArguments } from '../../database/pagination';
import { getProduct, listProducts, upsertProducts } from './service';
import type { UpsertResult } from '../common/upsert';

interface UpsertArguments {
  /** Each is judged by itself. */
  readonly products: readonly unknown[];
  readonly atomic?: boolean | null;
  readonly dry_run?: boolean | null;
}

export const productResolvers = {
  Query: {
    products: (_: unknown, args: ListArguments, { data }: RequestContext) => listProducts(data, args),
    product: (_: unknown, { id }: { id: string }, { data }: RequestContext) => getProduct(data, id),
  },
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
