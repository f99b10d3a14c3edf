import type { RequestContext } from '../../operations/context';
import type { ListArguments } from '../../database/pagination';
import { listMessages, type NewRequest, openRequest } from './service';

export const requestResolvers = {
  Query: {
    request_messages: (_: unknown, args: ListArguments & { id: string }, { data }: RequestContext) =>
      listMessages(data, args),
  },
  Mutation: {
    open_request: (_: unknown, args: NewRequest, context: RequestContext) =>
      openRequest(context.data, args, context.write),
  },
};
