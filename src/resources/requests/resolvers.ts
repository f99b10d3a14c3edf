import type { ListArguments } from '../../database/pagination';
import type { RequestContext } from '../../operations/context';
import type { Resolver } from '../../operations/run';
import type { ChangeArguments } from '../../stored/change';
import { addMessage, listMessages, type NewMessage, type NewRequest, openRequest, updateRequest } from './service';

const updateOne: Resolver = (_, args, context, info) => updateRequest(args as ChangeArguments, context, info);

export const requestResolvers = {
  Query: {
    request_messages: (_: unknown, args: ListArguments & { id: string }, { data }: RequestContext) =>
      listMessages(data, args),
  },
  Mutation: {
    open_request: (_: unknown, args: NewRequest, context: RequestContext) =>
      openRequest(context.data, args, context.write),
    add_request_message: (_: unknown, args: NewMessage, context: RequestContext) =>
      addMessage(context.data, args, context.write),
    update_request: updateOne,
  },
};
