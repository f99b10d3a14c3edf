import type { RequestContext } from '../../context';
import { productSales, type ProductSalesArguments } from './productSales';

export const orderResolvers = {
  Query: {
    product_sales: (_: unknown, args: ProductSalesArguments, { data }: RequestContext) => productSales(data, args),
  },
};
