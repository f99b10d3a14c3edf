import type { GraphQLResolveInfo } from 'graphql';
import type { RequestContext } from '../../context';
import type { ListArguments } from '../../pagination';
import { customerOf } from '../customers/service';
import { quoteOf } from '../quotes/service';
import { selects } from '../selection';
import type { Order } from './model';
import { getOrder, listOrders } from './service';

export const orderResolvers = {
  Query: {
    orders: (_: unknown, args: ListArguments, { data }: RequestContext, info: GraphQLResolveInfo) =>
      listOrders(data, args, { lines: selects(info, 'data', 'lines') }),
    order: (_: unknown, { id }: { id: string }, { data }: RequestContext) => getOrder(data, id),
  },
  Order: {
    id: (order: Order) => order._id,
    customer: (order: Order, _: unknown, { data }: RequestContext) => customerOf(data, order.customer_id),
    quote: (order: Order, _: unknown, { data }: RequestContext, info: GraphQLResolveInfo) =>
      quoteOf(data, order.quote_id, { lines: selects(info, 'lines') }),
  },
  OrderItem: { id: (order: Order) => order._id },
};
