import { ApolloServer, type ApolloServerPlugin, HeaderMap } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
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
import { refuseLargeVariables, variableErrors } from './variables';
import { tooLarge } from '../operations/answerSize';
import { answerText } from '../operations/answerText';
import type { Documents } from './documentStore';
import { toAppError } from '../mask';
import { formatError, isCallerFault, withHttpStatus } from './errors';
import type { GraphqlContext } from './context';
import { type CostOf, createCostOf } from './queryCost';
import { countFields, QUERY_LIMITS, queryLimitsRule, reservedAliasesRule } from './queryLimits';
import { subscribe } from './streams/subscribe';
import { createAnswerWritten, stringifyAnswer, WrittenData } from './fastRead';

export interface ApolloOptions {
  readonly schema: GraphQLSchema;
  readonly introspection: Config['INTROSPECTION'];
  readonly logger: Logger;
  readonly documents: Documents;
  readonly onFastRead?: OnFastRead;
}

/** Maximum fields of a compiled operation: a field takes about 0.1 ms and 1 KB of code, and graphql-jit repeats fragments. */
const MOST_COMPILED_FIELDS = 250;

/** Creates Apollo Server without caching, batching, reporting or landing page. */
export function createApollo({
  schema,
  introspection,
  logger,
  documents,
  onFastRead,
}: ApolloOptions): ApolloServer<GraphqlContext> {
  const isWorthIt = (document: DocumentNode, operation: OperationDefinitionNode): boolean =>
    countFields(document, operation) <= MOST_COMPILED_FIELDS;
  const execute = createExecutor(schema, { isWorthIt });
  const answerWritten = createAnswerWritten(schema, { isWorthIt, onFastRead });
  return new ApolloServer<GraphqlContext>({
    gateway: {
      onSchemaLoadOrUpdate: (callback) => {
        callback({ apiSchema: schema, coreSupergraphSdl: '' });
        return () => undefined;
      },
      load: () =>
        Promise.resolve({
          executor: async ({ document, operation, context, request: { variables } }) => {
            const errors = refusalOfVariables(schema, operation, variables ?? {});
            if (errors.length > 0) return { errors };
            const execution = { document, operation, contextValue: context, variableValues: variables };
            const { streaming } = context as GraphqlContext;
            if (streaming && operation.operation === OperationTypeNode.SUBSCRIPTION)
              return subscribe(schema, execution, streaming);
            const written = await answerWritten(execution);
            if (written) return written;
            const result = await execute(execution);
            // one error for the request, instead of one per list over the limit
            const refusal = tooLarge(context);
            if (refusal) return { errors: [withHttpStatus(refusal)] };
            const spent = spentEntirely(result);
            if (spent) return { errors: [withHttpStatus(spent)] };
            return operation.operation === OperationTypeNode.QUERY ? asText(result, context as GraphqlContext) : result;
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
    // Apollo removes them from messages, so do not compute them
    validationOptions: { hideSuggestions: true },
    formatError,
    logger: quiet(logger),
    plugins: [
      ApolloServerPluginCacheControlDisabled(),
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginSchemaReportingDisabled(),
      ApolloServerPluginUsageReportingDisabled(),
      requestRules(logger, documents, createCostOf(schema)),
    ],
  });
}

/** Why an operation cannot run with variables: their size first, since looking for other errors takes long for large ones. */
function refusalOfVariables(...args: Parameters<typeof variableErrors>): readonly GraphQLError[] {
  try {
    refuseLargeVariables(args[2]);
  } catch (error) {
    const known = findAppError(error);
    if (!known) throw error;
    return [withHttpStatus(known)];
  }
  return variableErrors(...args);
}

/** A result with its data as text, unless it is not of a caller's data. */
async function asText(result: ExecutionResult, { caller }: GraphqlContext): Promise<ExecutionResult> {
  if (!caller || !result.data) return result;
  try {
    return { ...result, data: new WrittenData(await answerText(result.data, caller)).asData() };
  } catch (error) {
    const known = findAppError(error);
    if (!known) throw error;
    return { errors: [withHttpStatus(known)] };
  }
}

/** The refusal of a request of which nothing ran, since a bulk call costs more points than were left once its elements were known. */
function spentEntirely({ data, errors = [] }: ExecutionResult): AppError | undefined {
  const [first] = errors;
  const known = first && findAppError(first);
  if (known?.code !== 'rate_limited' || Object.values(data ?? {}).some((value) => value !== null)) return undefined;
  return known;
}

/** Checks once the operation is known: Idempotency-Key, caller, cost and turn; keeps why documents are rejected, and answers them with that. */
function requestRules(logger: Logger, documents: Documents, costOf: CostOf): ApolloServerPlugin<GraphqlContext> {
  return {
    requestDidStart: () => {
      let isRejected = false;
      const note = (): Promise<(errors?: unknown) => Promise<void>> =>
        Promise.resolve((errors) => {
          isRejected ||= errors !== undefined;
          return Promise.resolve();
        });
      return Promise.resolve({
        parsingDidStart: note,
        validationDidStart: note,
        responseForOperation: ({ document }) => {
          const errors = documents.rejectionOf(document);
          return Promise.resolve(
            errors
              ? { body: { kind: 'single', singleResult: { errors } }, http: { status: 400, headers: new HeaderMap() } }
              : null,
          );
        },
        didResolveOperation: async ({ document, operation, request, contextValue }) => {
          if (documents.rejectionOf(document)) return;
          const { caller, onOperation, takeTurn, streaming } = contextValue;
          // several operations but no name to select one: reject, or it would run without being charged
          if (!operation) throw unfit('operationName must be the name of an operation in the document.');
          const isSubscription = operation.operation === OperationTypeNode.SUBSCRIPTION;
          if (isSubscription && !streaming) throw unfit(NOT_STREAMING, 406);
          if (streaming) streaming.isSubscription = isSubscription;
          const { fields, rootFields, points, turn } = costOf(document, operation);
          const isWrite = operation.operation === OperationTypeNode.MUTATION;
          onOperation(fields, isWrite);
          if (isWrite && rootFields > 1 && caller?.idempotencyKey !== undefined) throw withHttpStatus(sharedKey());
          if (!caller) {
            if (!isWrite && !isSubscription && fields.every((name) => name.startsWith('__'))) return;
            throw withHttpStatus(unauthenticated());
          }
          try {
            // all points before any of it runs; the first was taken before the request was read
            const more = points(request.variables ?? {}) - 1;
            if (more > 0) await caller.charge(more);
            if (turn) await takeTurn(turn);
          } catch (error) {
            const known = findAppError(error);
            throw known ? withHttpStatus(known) : error;
          }
        },
        willSendResponse: ({ queryHash, response: { body }, contextValue: { requestId, onErrors } }) => {
          if (isRejected && body.kind === 'single' && body.singleResult.errors)
            documents.reject(queryHash, body.singleResult.errors);
          // errors beside data that are text already; others get the request id as text
          const { data, errors } = body.kind === 'single' ? body.singleResult : body.initialResult;
          if (errors?.[0] && (data as unknown) instanceof WrittenData) {
            for (const error of errors)
              Object.assign(error, { extensions: { ...error.extensions, request_id: requestId } });
            onErrors(String(errors[0].extensions?.code));
          }
          return Promise.resolve();
        },
        didEncounterErrors: ({ errors, contextValue }) => {
          for (const error of errors) {
            const thrown = error.originalError ?? error;
            const known = toAppError(thrown);
            if (known.code === 'unavailable') contextValue.onUnavailable(known, thrown);
            if (known.code !== 'internal' || isCallerFault(error.toJSON(), error)) continue;
            logger.error({ request_id: contextValue.requestId, error: describeError(thrown) }, 'resolver failed');
          }
          return Promise.resolve();
        },
      });
    },
  };
}

const NOT_STREAMING =
  'A subscription is answered with Server-Sent Events: send it to POST /graphql with an API key and Accept: text/event-stream.';

function unfit(message: string, status = 400): GraphQLError {
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
