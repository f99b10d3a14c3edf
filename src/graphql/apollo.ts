import { ApolloServer, type ApolloServerPlugin, type GraphQLRequestListener } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginInlineTraceDisabled,
  ApolloServerPluginLandingPageDisabled,
  ApolloServerPluginSchemaReportingDisabled,
  ApolloServerPluginUsageReportingDisabled,
} from '@apollo/server/plugin/disabled';
import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
  type OperationDefinitionNode,
  OperationTypeNode,
} from 'graphql';
import type { Logger } from 'pino';
import { unauthenticated } from '../auth/authenticate';
import type { Config } from '../config';
import { type AppError, findAppError, invalidRequest } from '../errors';
import { createExecutor } from '../operations/execution';
import type { OnFastRead } from '../operations/run';
import { describeError, redact } from '../log';
import { afterWrites, answerRefusal, answerText } from '../operations/answers';
import type { CallContext } from '../operations/context';
import { setSunsetHeaders } from '../http/answer';
import { type Exchange, noteUnavailable } from '../http/exchange';
import { toAppError } from '../mongo/toAppError';
import type { Operation } from '../schema/declaredOperations';
import { LOGGED_OPERATION_LENGTH, OPERATION_NAME_LENGTH } from '../units';
import { argumentSizeError } from './argumentSize';
import type { Documents } from './documents';
import { completeErrors, formatError, isCallerFault, withHttpStatus } from './errors';
import { type CostOf, createCostOf } from './queryCost';
import { countFields } from './documentSize';
import { QUERY_LIMITS, queryLimitsRule, reservedAliasesRule } from './queryLimits';
import { type Streaming, subscribe } from './streams/subscribe';
import { variableErrors } from './variables';
import { createFastAnswers, stringifyAnswer, WrittenData } from './fastRead';

/** A request to GraphQL. */
export interface GraphqlCall {
  readonly exchange: Exchange;
  /** The context of a key or user; undefined for callers who can only introspect, for whom no root field runs. */
  readonly caller: CallContext | undefined;
  /** Set if the request has a key and accepts a stream. */
  readonly streaming: Streaming | undefined;
  /** Whether the operation is a write, once that is known. */
  isWrite: boolean;
}

/** Apollo copies its context for each request, so anything set on the copy would be lost, and copying many members would take time. */
interface ApolloContext {
  readonly call: GraphqlCall;
}

export interface ApolloOptions {
  readonly schema: GraphQLSchema;
  readonly introspection: Config['INTROSPECTION'];
  readonly logger: Logger;
  readonly operations: readonly Operation[];
  readonly onFastRead: OnFastRead;
}

/** Maximum fields of an operation that is answered from bytes, those of a fragment counted at each spread: what reads them is kept with its document. */
const MAX_FAST_FIELDS = 250;

/** Creates Apollo Server without caching, batching, reporting or landing page. */
export function createApollo(options: ApolloOptions, documents: Documents): ApolloServer<ApolloContext> {
  const { schema, introspection, logger, operations, onFastRead } = options;
  const isSmall = (document: DocumentNode, operation: OperationDefinitionNode): boolean =>
    countFields(document, operation) <= MAX_FAST_FIELDS;
  const execute = createExecutor(schema);
  const answerFast = createFastAnswers(schema, { isSmall, onFastRead });
  return new ApolloServer<ApolloContext>({
    gateway: {
      onSchemaLoadOrUpdate: (callback) => {
        callback({ apiSchema: schema, coreSupergraphSdl: '' });
        return () => undefined;
      },
      load: () =>
        Promise.resolve({
          executor: async ({ document, operation, context, request: { variables } }) => {
            const { call } = context as ApolloContext;
            // coercion takes a microsecond or more per element, and runs two or three times before arguments are checked
            const oversize = argumentSizeError(document, operation, variables ?? {});
            if (oversize) return { errors: [withHttpStatus(oversize)] };
            const errors = variableErrors(schema, operation, variables ?? {});
            if (errors.length > 0) return { errors };
            const { caller, streaming } = call;
            const contextValue = caller ?? {};
            const execution = { document, operation, contextValue, variableValues: variables };
            if (streaming && operation.operation === OperationTypeNode.SUBSCRIPTION)
              return subscribe(schema, execution, streaming);
            const answer = await answerFast(execution);
            if (answer) return answer;
            const result = await execute(execution);
            const refusal = answerRefusal(contextValue);
            if (refusal) return refusalOf(result, call, refusal);
            const spent = spentEntirely(result);
            if (spent) return { errors: [withHttpStatus(spent)] };
            return asText(withOmitted(result, call), call);
          },
        }),
      stop: () => Promise.resolve(),
    },
    introspection: introspection !== 'off',
    hideSchemaDetailsFromClientErrors: true,
    includeStacktraceInErrorResponses: false,
    persistedQueries: false,
    documentStore: documents,
    stringifyResult: stringifyAnswer as (answer: object) => string,
    allowBatchedHttpRequests: false,
    csrfPrevention: true,
    stopOnTerminationSignals: false,
    parseOptions: { maxLexicalTokens: QUERY_LIMITS.tokens },
    validationRules: [queryLimitsRule, reservedAliasesRule],
    // Apollo removes suggestions from messages, so do not compute them
    validationOptions: { hideSuggestions: true },
    formatError,
    logger: quiet(logger),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginInlineTraceDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      createRequestRules(logger, createCostOf(schema), operations),
    ],
  });
}

/** The result, with how many rows were left out of it. */
function withOmitted(result: ExecutionResult, { caller }: GraphqlCall): ExecutionResult {
  const omitted = caller?.omitted?.() ?? 0;
  return omitted === 0 ? result : { ...result, extensions: { ...result.extensions, omitted } };
}

/** The result with its data as text; unchanged if it has no data, or there is no caller. */
async function asText(result: ExecutionResult, call: GraphqlCall): Promise<ExecutionResult> {
  const { caller } = call;
  if (!caller || !result.data) return result;
  try {
    return { ...result, data: new WrittenData(await answerText(result.data, caller)).asData() };
  } catch (error) {
    const appError = findAppError(error);
    if (!appError) throw error;
    return refusalOf(result, call, appError);
  }
}

/**
 * One error for the request, instead of one per list over the limit. After a write, those of other fields stay and the status is 200, since
 * 400 and 503 mean that nothing was stored.
 */
function refusalOf({ errors = [] }: ExecutionResult, { isWrite }: GraphqlCall, refusal: AppError): ExecutionResult {
  if (!isWrite) return { errors: [withHttpStatus(refusal)] };
  const others = errors.filter((error) => findAppError(error) !== refusal);
  const appError = afterWrites(refusal);
  return { data: null, errors: [new GraphQLError(appError.detail, { originalError: appError }), ...others] };
}

/**
 * The error to answer with if nothing ran: once its elements were counted, a bulk call cost more points than were left. What ran has an
 * object: fields of Mutation are nullable objects, null on errors alone, and `__typename` is a text.
 */
function spentEntirely({ data, errors = [] }: ExecutionResult): AppError | undefined {
  const [first] = errors;
  const appError = first && findAppError(first);
  const ran = (value: unknown): boolean => typeof value === 'object' && value !== null;
  return appError?.code === 'rate_limited' && !Object.values(data ?? {}).some(ran) ? appError : undefined;
}

/** The checks that need the operation: Idempotency-Key, caller, cost and turn. */
function createRequestRules(
  logger: Logger,
  costOf: CostOf,
  operations: readonly Operation[],
): ApolloServerPlugin<ApolloContext> {
  const sunsets = new Map(operations.flatMap(({ name, sunset }) => (sunset ? [[name, sunset] as const] : [])));
  // the same for all requests
  const rules: GraphQLRequestListener<ApolloContext> = {
    didResolveOperation: async ({ document, operation, request, contextValue: { call } }) => {
      const { caller, exchange, streaming } = call;
      // several operations but no name to select one: reject, or it would run without being charged
      if (!operation) throw invalidOperation('operationName must be the name of an operation in the document.');
      const isSubscription = operation.operation === OperationTypeNode.SUBSCRIPTION;
      // nobody streams without a key, which is said first
      if (isSubscription && caller && !streaming) throw invalidOperation(NOT_STREAMING, 406);
      if (streaming) streaming.isSubscription = isSubscription;
      const { fields, points, turn } = costOf(document, operation);
      const isWrite = operation.operation === OperationTypeNode.MUTATION;
      call.isWrite = isWrite;
      const ownFields = fields.filter((name) => !name.startsWith('__'));
      const isIntrospection = ownFields.length === 0;
      exchange.log.operation = isIntrospection ? 'introspection' : fields.join(' ').slice(0, LOGGED_OPERATION_LENGTH);
      exchange.log.operationType = operation.operation;
      exchange.log.operationName = operation.name?.value.slice(0, OPERATION_NAME_LENGTH);
      const ending = fields.flatMap((name) => sunsets.get(name) ?? []);
      if (ending.length > 0) setSunsetHeaders(exchange.response, ending);
      if (isWrite && ownFields.length > 1 && caller?.idempotencyKey !== undefined) throw withHttpStatus(sharedKey());
      if (!caller) {
        if (!isWrite && !isSubscription && isIntrospection) return;
        throw withHttpStatus(unauthenticated());
      }
      try {
        // charge all points before anything runs; the first was charged before the request was read
        const more = points(request.variables ?? {}) - 1;
        if (more > 0) await caller.charge(more);
        if (turn) await exchange.queue.take(exchange, turn);
        // its answer will not be refused for want of memory, so refuse it now if the caller's unread answers take too much
        if (isWrite) exchange.bodies.requireRoom(exchange);
      } catch (error) {
        const appError = findAppError(error);
        throw appError ? withHttpStatus(appError) : error;
      }
    },
    willSendResponse: ({ response: { body }, contextValue: { call } }) => {
      // errors of an answer whose data is text; those of others are completed when it is written
      const { data, errors } = body.kind === 'single' ? body.singleResult : body.initialResult;
      if (errors?.[0] && (data as unknown) instanceof WrittenData) completeErrors(errors, call.exchange);
      return Promise.resolve();
    },
    didEncounterErrors: ({ errors, contextValue: { call } }) => {
      for (const error of errors) {
        const thrown = error.originalError ?? error;
        const appError = toAppError(thrown);
        if (appError.code === 'unavailable') noteUnavailable(call.exchange, appError, thrown);
        if (appError.code !== 'internal' || isCallerFault(error.toJSON(), error)) continue;
        logger.error({ request_id: call.exchange.requestId, error: describeError(thrown) }, 'resolver failed');
      }
      return Promise.resolve();
    },
  };
  return { requestDidStart: () => Promise.resolve(rules) };
}

const NOT_STREAMING =
  'A subscription is answered with Server-Sent Events: send it to POST /graphql with an API key and Accept: text/event-stream.';

function invalidOperation(message: string, status = 400): GraphQLError {
  const extensions: Record<string, unknown> = { code: 'OPERATION_RESOLUTION_FAILURE', http: { status } };
  return new GraphQLError(message, { extensions });
}

/** An Idempotency-Key is for one write: with several in a request it would be unclear which answer to replay. */
function sharedKey(): AppError {
  const detail = 'requires exactly one mutation field in the request';
  return invalidRequest([{ parameter: 'Idempotency-Key', code: 'several', detail }]);
}

/** Logs Apollo's own messages at debug level; anything important is logged with its request. */
function quiet(logger: Logger): Pick<Logger, 'debug' | 'info' | 'warn' | 'error'> {
  const note = (message: unknown): void => {
    logger.debug({ apollo: redact(String(message)) });
  };
  return { debug: note, info: note, warn: note, error: note };
}
