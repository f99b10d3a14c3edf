import type { RequestContext } from '../../context';
import type { ListArguments } from '../../pagination';
import { reportWith } from '../report';
import type { Product } from './model';
import { getProduct, listProducts, type ProductUpsert, upsertProducts } from './service';

interface UpsertArguments {
  readonly products: readonly ProductUpsert[];
  readonly atomic?: boolean | null;
  readonly dry_run?: boolean | null;
}

export const productResolvers = {
  Query: {
    products: (_: unknown, args: ListArguments, { data }: RequestContext) => listProducts(data, args),
    product: (_: unknown, { id }: { id: string }, { data }: RequestContext) => getProduct(data, id),
  },
  Mutation: {
    upsert_products: async (_: unknown, args: UpsertArguments, context: RequestContext) => {
      const report = await upsertProducts(context.data, args.products, {
        atomic: args.atomic ?? false,
        dryRun: args.dry_run ?? false,
        currency: context.principal.organisation.currency,
        check: (element) => context.checkElement('ProductUpsert', element),
      });
      return reportWith('sku', report);
    },
  },
  Product: { id: (product: Product) => product._id },
};
