import type { RequestContext } from '../../context';
import type { ListArguments } from '../../database/pagination';
import type { Customer } from '../customers/model';
import { AS_PARENT } from '../customers/service';
import { getRequest, listMessages, listRequests, listRequestsOf, type NewRequest, openRequest } from './service';

export const requestResolvers = {
  Query: {
    requests: (_: unknown, args: ListArguments, { data }: RequestContext) => listRequests(data, args),
    request: (_: unknown, { id }: { id: string }, { data }: RequestContext) => getRequest(data, id),
    request_messages: (_: unknown, args: ListArguments & { id: string }, { data }: RequestContext) =>
      listMessages(data, args),
  },
  Customer: {
    requests: (customer: Customer, args: ListArguments, { data }: RequestContext) =>
      listRequestsOf(data, AS_PARENT, customer._id, args),
  },
  Mutation: {
    open_request: (_: unknown, args: NewRequest, context: RequestContext) =>
      openRequest(context.data, args, context.write),
  },
};
