import type { GraphQLResolveInfo } from 'graphql';
import type { RequestContext } from '../../context';
import type { ListArguments } from '../../database/pagination';
import type { Customer } from '../customers/model';
import { AS_PARENT, customerOf } from '../customers/service';
import { quoteOf } from '../quotes/service';
import { selects } from '../common/selection';
import type { TotalsArguments } from '../common/totals';
import type { Order } from './model';
import { productSales, type ProductSalesArguments } from './productSales';
import { getOrder, listOrders, listOrdersOf } from './service';
import { orderTotals } from './totals';

export const orderResolvers = {
  Query: {
    orders: (_: unknown, args: ListArguments, { data }: RequestContext, info: GraphQLResolveInfo) =>
      listOrders(data, args, { lines: selects(info, 'data', 'lines') }),
    order: (_: unknown, { id }: { id: string }, { data }: RequestContext, info: GraphQLResolveInfo) =>
      getOrder(data, id, { lines: selects(info, 'lines') }),
    order_totals: (_: unknown, args: TotalsArguments, { data }: RequestContext) => orderTotals(data, args),
    product_sales: (_: unknown, args: ProductSalesArguments, { data }: RequestContext) => productSales(data, args),
  },
  Customer: {
    orders: (customer: Customer, args: ListArguments, { data }: RequestContext, info: GraphQLResolveInfo) =>
      listOrdersOf(data, AS_PARENT, customer._id, args, { lines: selects(info, 'data', 'lines') }),
  },
  Order: {
    customer: (order: Order, _: unknown, { data }: RequestContext) => customerOf(data, order.customer_id),
    quote: (order: Order, _: unknown, { data }: RequestContext, info: GraphQLResolveInfo) =>
      quoteOf(data, order.quote_id, { lines: selects(info, 'lines') }),
  },
};
