import { unwrapResolverError } from '@apollo/server/errors';
import {
  createSourceEventStream,
  execute,
  type ExecutionArgs,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLSchema,
} from 'graphql';
import { toAppError } from '../../mongo/toAppError';
import type { Execution } from '../../operations/execution';
import { withHttpStatus } from '../errors';

/** What a subscription's resolver returns: payloads, and where to resume after them. Throws the reason if it ends by itself. */
export interface Source extends AsyncIterable<unknown> {
  /** Where to resume after the payloads so far. */
  readonly cursor: string;
  /** Aborts when the subscription ends, even while a payload is being sent. */
  readonly ended: AbortSignal;
}

/** A subscription that was accepted. */
export interface Subscription {
  readonly source: Source;
  /** Executes the operation for a payload. */
  readonly resultOf: (payload: unknown) => Promise<ExecutionResult>;
}

/** How the caller of a request can be answered. */
export interface Streaming {
  /** Whether the caller also accepts JSON. */
  readonly takesJson: boolean;
  /** Whether the request is a subscription, once that is known. */
  isSubscription?: boolean;
  /** The subscription, once it is accepted. */
  subscription?: Subscription;
}

/** Accepts a subscription, or resolves with the errors for which it is rejected. */
export async function subscribe(
  schema: GraphQLSchema,
  { document, operation, contextValue, variableValues }: Execution,
  streaming: Streaming,
): Promise<ExecutionResult> {
  const operationName = operation.name?.value;
  const args: ExecutionArgs = {
    schema,
    document,
    variableValues: declaredOnly(operation, variableValues),
    operationName,
  };
  const accepted = await createSourceEventStream({ ...args, contextValue });
  if (!(Symbol.asyncIterator in accepted)) return { errors: accepted.errors?.map(withStatus) ?? [] };
  streaming.subscription = {
    source: accepted as Source,
    // no field of an event can fail, so its errors need no limit
    resultOf: async (payload) => execute({ ...args, contextValue, rootValue: payload }),
  };
  // what is answered is `streaming.subscription`
  return { data: null };
}

/** Only the declared variables: an open stream keeps its variables in memory, and nothing limits undeclared ones. */
function declaredOnly(
  { variableDefinitions = [] }: Execution['operation'],
  values: Execution['variableValues'],
): Execution['variableValues'] {
  const names = new Set(variableDefinitions.map(({ variable }) => variable.name.value));
  return values && Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)));
}

/** Gives errors of the whole request their HTTP status, since its caller may retry it unchanged. */
function withStatus(error: GraphQLError): GraphQLError {
  const appError = toAppError(unwrapResolverError(error));
  return appError.code === 'rate_limited' || appError.code === 'unavailable' ? withHttpStatus(appError) : error;
}
