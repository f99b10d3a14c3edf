import type { GraphQLResolveInfo } from 'graphql';
import type { RequestContext } from '../../context';
import type { ListArguments } from '../../database/pagination';
import type { Customer } from '../customers/model';
import { AS_PARENT, customerOf } from '../customers/service';
import { selects } from '../common/selection';
import type { TotalsArguments } from '../common/totals';
import type { Quote } from './model';
import { getQuote, listQuotes, listQuotesOf } from './service';
import { quoteTotals } from './totals';

export const quoteResolvers = {
  Query: {
    quotes: (_: unknown, args: ListArguments, { data }: RequestContext, info: GraphQLResolveInfo) =>
      listQuotes(data, args, { lines: selects(info, 'data', 'lines') }),
    quote: (_: unknown, { id }: { id: string }, { data }: RequestContext, info: GraphQLResolveInfo) =>
      getQuote(data, id, { lines: selects(info, 'lines') }),
    quote_totals: (_: unknown, args: TotalsArguments, { data }: RequestContext) => quoteTotals(data, args),
  },
  Customer: {
    quotes: (customer: Customer, args: ListArguments, { data }: RequestContext, info: GraphQLResolveInfo) =>
      listQuotesOf(data, AS_PARENT, customer._id, args, { lines: selects(info, 'data', 'lines') }),
  },
  Quote: {
    customer: (quote: Quote, _: unknown, { data }: RequestContext) => customerOf(data, quote.customer_id),
  },
};
