import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  ApolloServer,
  type ApolloServerPlugin,
  type BaseContext,
  type GraphQLRequestListener,
  HeaderMap,
  type HTTPGraphQLResponse,
} from '@apollo/server';
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
import { answerText, tooLarge } from '../operations/answers';
import type { RequestContext } from '../operations/context';
import { checkedJson } from '../http/json';
import { type Exchange, noteUnavailable, setSunsetHeaders } from '../http/exchange';
import { toAppError } from '../mask';
import type { Operation } from '../schema/declaredOperations';
import { argumentSizeError } from './argumentSize';
import type { Documents } from './documents';
import { formatError, isCallerFault, withHttpStatus } from './errors';
import { type CostOf, createCostOf } from './queryCost';
import { countFields, QUERY_LIMITS, queryLimitsRule, reservedAliasesRule } from './queryLimits';
import { type Streaming, subscribe } from './streams/subscribe';
import { variableErrors } from './variables';
import { createAnswerWritten, stringifyAnswer, WrittenData } from './fastRead';

/** The resolver context with additions for GraphQL. Root fields never run without a caller. */
export interface GraphqlContext extends RequestContext {
  readonly exchange: Exchange;
  /** The context of a key or user; undefined for callers who can only introspect. */
  readonly caller: RequestContext | undefined;
  /** Set if the request has a key and accepts a stream. */
  readonly streaming: Streaming | undefined;
  /** Whether the operation is a write, once that is known. */
  isWrite: boolean;
}

/** Apollo copies its context for each request, so anything set on the copy would be lost, and copying many members would take time. */
interface ApolloContext {
  readonly call: GraphqlContext;
}

export interface ApolloOptions {
  readonly schema: GraphQLSchema;
  readonly introspection: Config['INTROSPECTION'];
  readonly logger: Logger;
  readonly operations: readonly Operation[];
  readonly onFastRead: OnFastRead;
}

/** Maximum fields of a compiled operation: a field takes about 0.1 ms and 1 KB of code, and graphql-jit repeats fragments. */
const MAX_COMPILED_FIELDS = 250;

/** Creates Apollo Server without caching, batching, reporting or landing page. */
export function createApollo(options: ApolloOptions, documents: Documents): ApolloServer<ApolloContext> {
  const { schema, introspection, logger, operations, onFastRead } = options;
  const isWorthIt = (document: DocumentNode, operation: OperationDefinitionNode): boolean =>
    countFields(document, operation) <= MAX_COMPILED_FIELDS;
  const execute = createExecutor(schema, { isWorthIt });
  const answerWritten = createAnswerWritten(schema, { isWorthIt, onFastRead });
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
            const execution = { document, operation, contextValue: call, variableValues: variables };
            const { streaming } = call;
            if (streaming && operation.operation === OperationTypeNode.SUBSCRIPTION)
              return subscribe(schema, execution, streaming);
            const written = await answerWritten(execution);
            if (written) return written;
            const result = await execute(execution);
            // one error for the request, instead of one per list over the limit
            const refusal = tooLarge(call);
            if (refusal) return { errors: [withHttpStatus(refusal)] };
            const spent = spentEntirely(result);
            if (spent) return { errors: [withHttpStatus(spent)] };
            return operation.operation === OperationTypeNode.QUERY ? asText(result, call) : result;
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
      requestRules(logger, createCostOf(schema), operations),
    ],
  });
}

/** The result with its data as text; unchanged if it has no data, or there is no caller. */
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

/** The error to answer with if nothing ran: once its elements were counted, a bulk call cost more points than were left. */
function spentEntirely({ data, errors = [] }: ExecutionResult): AppError | undefined {
  const [first] = errors;
  const known = first && findAppError(first);
  if (known?.code !== 'rate_limited' || Object.values(data ?? {}).some((value) => value !== null)) return undefined;
  return known;
}

/** The checks that need the operation: Idempotency-Key, caller, cost and turn. */
function requestRules(
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
      if (!operation) throw unfit('operationName must be the name of an operation in the document.');
      const isSubscription = operation.operation === OperationTypeNode.SUBSCRIPTION;
      if (isSubscription && !streaming) throw unfit(NOT_STREAMING, 406);
      if (streaming) streaming.isSubscription = isSubscription;
      const { fields, rootFields, points, turn } = costOf(document, operation);
      const isWrite = operation.operation === OperationTypeNode.MUTATION;
      call.isWrite = isWrite;
      const isIntrospection = fields.every((name) => name.startsWith('__'));
      exchange.log.operation = isIntrospection ? 'introspection' : fields.join(' ').slice(0, 200);
      const ending = fields.flatMap((name) => sunsets.get(name) ?? []);
      if (ending.length > 0) setSunsetHeaders(exchange.response, ending);
      if (isWrite && rootFields > 1 && caller?.idempotencyKey !== undefined) throw withHttpStatus(sharedKey());
      if (!caller) {
        if (!isWrite && !isSubscription && isIntrospection) return;
        throw withHttpStatus(unauthenticated());
      }
      try {
        // charge all points before anything runs; the first was charged before the request was read
        const more = points(request.variables ?? {}) - 1;
        if (more > 0) await caller.charge(more);
        if (turn) await exchange.turns.take(exchange, turn);
      } catch (error) {
        const known = findAppError(error);
        throw known ? withHttpStatus(known) : error;
      }
    },
    willSendResponse: ({ response: { body }, contextValue: { call } }) => {
      const { exchange } = call;
      // if the data is already text, add the request id to the errors here; otherwise that is done when the answer is written
      const { data, errors } = body.kind === 'single' ? body.singleResult : body.initialResult;
      if (errors?.[0] && (data as unknown) instanceof WrittenData) {
        for (const error of errors)
          Object.assign(error, { extensions: { ...error.extensions, request_id: exchange.requestId } });
        exchange.log.code = String(errors[0].extensions?.code);
      }
      return Promise.resolve();
    },
    didEncounterErrors: ({ errors, contextValue: { call } }) => {
      for (const error of errors) {
        const thrown = error.originalError ?? error;
        const known = toAppError(thrown);
        if (known.code === 'unavailable') noteUnavailable(call.exchange, known, thrown);
        if (known.code !== 'internal' || isCallerFault(error.toJSON(), error)) continue;
        logger.error({ request_id: call.requestId, error: describeError(thrown) }, 'resolver failed');
      }
      return Promise.resolve();
    },
  };
  return { requestDidStart: () => Promise.resolve(rules) };
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

/** An empty operation name in a query string, which means none. */
const NO_NAME = /([?&])operationName=(?=&|$)/;

function withoutEmptyName(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || !('operationName' in body) || body.operationName !== '') return body;
  const { operationName: _none, ...others } = body;
  return others;
}

/** A query string whose variables have only numbers that are parsed as what they are, as in a body (inexactNumbers.ts). */
function withCheckedVariables(search: string): string {
  // its name may be percent-encoded
  const query = new URLSearchParams(search);
  const given = query.get('variables');
  if (given === null) return search;
  const checked = checkedJson(given);
  const { fault } = checked;
  if (fault) throw invalidRequest([{ parameter: 'variables', code: fault.code, detail: fault.detail }]);
  if (checked.text === given) return search;
  query.set('variables', checked.text);
  return `?${query.toString()}`;
}

/** Runs one HTTP request through Apollo's HTTP layer. `body` is parsed JSON, or undefined if there is none; `accept` replaces that header. */
export function runApollo<Context extends BaseContext>(
  server: ApolloServer<Context>,
  request: IncomingMessage,
  body: unknown,
  context: () => Promise<Context>,
  accept?: string,
): Promise<HTTPGraphQLResponse> {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers.set(name, Array.isArray(value) ? value.join(', ') : value);
  }
  if (accept !== undefined) headers.set('accept', accept);
  // a page of another site cannot send Authorization without a preflight, so a GET with it needs no other CSRF header
  if (request.headers.authorization !== undefined) headers.set('apollo-require-preflight', 'true');
  const target = request.url ?? '/';
  const at = target.indexOf('?');
  return server.executeHTTPGraphQLRequest({
    httpGraphQLRequest: {
      method: (request.method ?? 'GET').toUpperCase(),
      headers,
      search: at === -1 ? '' : withCheckedVariables(target.slice(at).replace(NO_NAME, '$1')),
      body: withoutEmptyName(body),
    },
    context,
  });
}

/** Writes Apollo's answer; `edit` may change the text of a complete answer, which can be given as bytes (fastRead.ts). */
export async function writeApollo(
  response: ServerResponse,
  answer: HTTPGraphQLResponse,
  edit: (text: string | Buffer) => string | Buffer | Promise<Buffer> = (text) => text,
): Promise<void> {
  const { body } = answer;
  const text = body.kind === 'complete' ? await edit(body.string) : '';
  // answered with 503 in the meantime, because it took too long
  if (response.headersSent) return;
  response.statusCode = answer.status ?? 200;
  for (const [name, value] of answer.headers) {
    // Apollo's content-length is from before the edit
    if (name !== 'content-length') response.setHeader(name, value);
  }
  if (body.kind === 'complete') {
    response.setHeader('content-length', Buffer.byteLength(text));
    response.end(text);
    return;
  }
  for await (const chunk of body.asyncIterator) response.write(chunk);
  response.end();
}
