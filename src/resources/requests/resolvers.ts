import type { RequestContext } from '../../context';
import type { ListArguments } from '../../pagination';
import { getRequest, listMessages, listRequests, type NewRequest, openRequest } from './service';

export const requestResolvers = {
  Query: {
    requests: (_: unknown, args: ListArguments, { data }: RequestContext) => listRequests(data, args),
    request: (_: unknown, { id }: { id: string }, { data }: RequestContext) => getRequest(data, id),
    request_messages: (_: unknown, args: ListArguments & { id: string }, { data }: RequestContext) =>
      listMessages(data, args),
  },
  Mutation: {
    open_request: (_: unknown, args: NewRequest, context: RequestContext) =>
      openRequest(context.data, args, context.write),
  },
};
