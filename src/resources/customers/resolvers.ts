import type { RequestContext } from '../../context';
import type { ListArguments } from '../../pagination';
import { listOrdersOf } from '../orders/service';
import type { Parent } from '../parentList';
import { listQuotesOf } from '../quotes/service';
import { listRequestsOf } from '../requests/service';
import { selects } from '../selection';
import type { GraphQLResolveInfo } from 'graphql';
import { type Customer, customers } from './model';
import { getCustomer, listCustomers, upsertCustomers } from './service';
import type { UpsertResult } from '../upsert';

/** How rows of other resources name their customer. */
const AS_PARENT: Parent = { collection: customers, field: 'customer_id' };

interface UpsertArguments {
  /** Each is judged by itself. */
  readonly customers: readonly unknown[];
  readonly atomic?: boolean | null;
  readonly dry_run?: boolean | null;
}

export const customerResolvers = {
  Query: {
    customers: (_: unknown, args: ListArguments, { data }: RequestContext) => listCustomers(data, args),
    customer: (_: unknown, { id }: { id: string }, { data }: RequestContext) => getCustomer(data, id),
  },
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
  Customer: {
    quotes: (customer: Customer, args: ListArguments, { data }: RequestContext, info: GraphQLResolveInfo) =>
      listQuotesOf(data, AS_PARENT, customer._id, args, { lines: selects(info, 'data', 'lines') }),
    orders: (customer: Customer, args: ListArguments, { data }: RequestContext, info: GraphQLResolveInfo) =>
      listOrdersOf(data, AS_PARENT, customer._id, args, { lines: selects(info, 'data', 'lines') }),
    requests: (customer: Customer, args: ListArguments, { data }: RequestContext) =>
      listRequestsOf(data, AS_PARENT, customer._id, args),
  },
};
