import type { GraphQLSchema } from 'graphql';
import type { RequestContext } from '../operations/context';
import { coerceArguments } from '../operations/argumentChecks';
import { everyField, type Field, type FallbackReason, writerOf } from '../operations/fastRead';
import { listWithAll, type Arguments, type RestOperation } from './routes/routes';
import { asksForAll } from './openapi/include';
import type { RouteAnswer } from './sofa';

/** Why an answer was not written from bytes; `arguments` if they could not be converted. */
export type RestFallbackReason = FallbackReason | 'arguments';

/** Answers with text written from the database's bytes, or says why it does not. */
export type WrittenRoute = (args: Arguments, context: RequestContext) => Promise<RouteAnswer | RestFallbackReason>;

/**
 * The written answers of an operation: all its fields, as Sofa selects them (docs/decisions/fast.md). Undefined if its resolver
 * cannot write.
 */
export function writtenRoute(schema: GraphQLSchema, operation: RestOperation): WrittenRoute | undefined {
  const plain = routeOf(schema, operation);
  const twin = listWithAll(operation);
  const withAll = twin && routeOf(schema, twin);
  if (!plain || !withAll) return plain;
  return (args, context) => (asksForAll(args) ? withAll : plain)(args, context);
}

function routeOf(schema: GraphQLSchema, { kind, name, rest }: RestOperation): WrittenRoute | undefined {
  if (kind !== 'Query') return undefined;
  const field: Field | undefined = schema.getQueryType()?.getFields()[name];
  const write = field && writerOf(field, everyField(field.type));
  if (!write) return undefined;
  return async (args, context) => {
    const coerced = coerceArguments(field.args, args);
    if (!coerced) return 'arguments';
    const answer = await write(coerced, context);
    if (typeof answer === 'string') return answer;
    return { status: rest.status, body: answer.text, next: answer.next ?? undefined };
  };
}
