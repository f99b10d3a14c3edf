import type { GraphQLSchema } from 'graphql';
import type { RecogniseSome } from '../auth/recognise';
import type { OpenContext } from '../operations/context';
import { AppError } from '../errors';
import { type Exchange, incomingRequest, send, setSunsetHeaders, soleAuthorization } from '../http/exchange';
import { isLargePage } from '../admission/turns';
import { entityTag } from '../schema/entityTags';
import type { Operation } from '../schema/declaredOperations';
import { buildOpenApi } from './openapi';
import { type RequestCheck, requestChecks } from './requestChecks';
import { asksForAll } from './openapi/include';
import { matchesTag } from './etag';
import { createRouter, hasEntityTag, readsOneObject, type RestOperation, restOperations } from './routes/routes';
import { type RouteAnswer, type RouteHandler, sofaRoutes } from './sofa';
import { type RestFallbackReason, type WrittenRoute, writtenRoute } from './fastRead';

/** Base path of the REST API. */
export const REST_BASE = '/api/v1';

export interface RestOptions {
  readonly schema: GraphQLSchema;
  readonly operations: readonly Operation[];
  readonly openContext: OpenContext;
  /** Finds whose a request is that is answered without its key; undefined if that is too much. */
  readonly recognise: RecogniseSome;
  /** Begins the links to pages, for clients that follow none without a host, and the address of the server in the document. */
  readonly publicUrl?: string | undefined;
  /** Called for each answer of an operation that can be written from bytes, with the reason if this one was not. */
  readonly onWritable?: (reason: RestFallbackReason | undefined) => void;
}

/** Answers an exchange below /api/v1, or throws the AppError to answer with. */
export type RestFace = (exchange: Exchange) => Promise<void>;

/** The REST API. Checks in the order of contract, section 2: route, method, key, rate, plan, scope, headers, parameters, body. */
export function createRestFace(options: RestOptions): RestFace {
  const { schema, operations, openContext, recognise, publicUrl = '', onWritable } = options;
  const document = buildOpenApi(schema, operations, publicUrl);
  // bytes that all answers share
  const published = Buffer.from(JSON.stringify(document));
  const router = createRouter(operations);
  const [checkOf, handlerOf] = [requestChecks(document), sofaRoutes(schema, operations)];
  const steps = new Map<RestOperation, { check: RequestCheck; handle: RouteHandler }>(
    restOperations(operations).map((operation) => [
      operation,
      {
        check: checkOf(operation),
        handle: writtenFirst(writtenRoute(schema, operation), handlerOf(operation), onWritable),
      },
    ]),
  );

  /** Notes whose a request without a route is; its answer does not depend on that. */
  async function noteCaller({ request, address, log }: Exchange): Promise<void> {
    const found = await recognise(soleAuthorization(request), address);
    if (found && 'reason' in found) log.refusal = found;
    else if (found) log.principal = found;
  }

  return async (exchange) => {
    const path = exchange.path.slice(REST_BASE.length);
    if (path === '/openapi.json') {
      if (methodOf(exchange) !== 'GET') throw notAllowed(exchange, ['GET', 'HEAD']);
      exchange.response.setHeader('Cache-Control', 'no-cache');
      send(exchange, 200, 'application/json; charset=utf-8', published);
      return;
    }
    const match = router(path);
    const operation = match?.methods.get(methodOf(exchange));
    if (!match || !operation) {
      await noteCaller(exchange);
      throw match ? notAllowed(exchange, allowed(match.methods)) : new AppError('not_found', 'There is no such route.');
    }
    const step = steps.get(operation);
    if (!step) throw new Error(`no route for ${exchange.path}`);
    exchange.log.operation = operation.name;
    const context = await openContext(incomingRequest(exchange));
    context.authorise(operation);
    if (operation.sunset) setSunsetHeaders(exchange.response, [operation.sunset]);
    const args = await step.check(exchange, match.params);
    if (asksForAll(args) || isLargePage(args)) await exchange.turns.take(exchange, 'page');
    answer(exchange, operation, await step.handle(args, context), publicUrl);
  };
}

/** Answers from bytes if that works, otherwise through Sofa. */
function writtenFirst(
  written: WrittenRoute | undefined,
  handle: RouteHandler,
  onWritable: RestOptions['onWritable'],
): RouteHandler {
  if (!written) return handle;
  return async (args, context) => {
    const answer = await written(args, context);
    const isWritten = typeof answer !== 'string';
    onWritable?.(isWritten ? undefined : answer);
    return isWritten ? answer : handle(args, context);
  };
}

function allowed(methods: ReadonlyMap<string, unknown>): string[] {
  return [...methods.keys()].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
}

/** The method to look up; HEAD is handled as GET. */
function methodOf({ request: { method = '' } }: Exchange): string {
  return method === 'HEAD' ? 'GET' : method;
}

function notAllowed({ request: { method = '' } }: Exchange, allow: readonly string[]): AppError {
  return new AppError('method_not_allowed', `${method} is not allowed here.`, { allow });
}

function answer(
  exchange: Exchange,
  operation: RestOperation,
  { status, body, id, next }: RouteAnswer,
  publicUrl: string,
): void {
  const { request, response, path, search } = exchange;
  if (status === 201) response.setHeader('Location', `${publicUrl}${path}/${String(id)}`);
  if (next !== undefined) response.setHeader('Link', `<${publicUrl}${path}${withCursor(search, next)}>; rel="next"`);
  const tag = hasEntityTag(operation) ? entityTag(body) : undefined;
  if (tag !== undefined) response.setHeader('ETag', tag);
  if (tag !== undefined && readsOneObject(operation)) {
    response.setHeader('Cache-Control', 'private, no-cache');
    if (matchesTag(request.headers['if-none-match'], tag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
  }
  if (request.method !== 'HEAD') exchange.bodies.keep(exchange, Buffer.byteLength(body), operation.kind === 'Query');
  send(exchange, status, 'application/json; charset=utf-8', body);
}

/** The caller's query with the cursor of the next page. */
function withCursor(search: string, cursor: string): string {
  const query = new URLSearchParams(search);
  query.set('cursor', cursor);
  return `?${query.toString()}`;
}
