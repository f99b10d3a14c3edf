import type { IncomingMessage } from 'node:http';
import type { HTTPGraphQLResponse } from '@apollo/server';
import { GraphQLObjectType, GraphQLSchema, type GraphQLSchemaConfig, printSchema } from 'graphql';
import { addressBucket } from '../auth/addresses';
import { type RateLimiter, spend } from '../admission/rateLimit';
import type { OpenContext, CallContext } from '../operations/context';
import { AppError } from '../errors';
import type { Operation } from '../schema/declaredOperations';
import { acceptBesideStream, acceptOf, acceptsStream } from '../http/requestHead';
import { BODY_LIMIT, checkBodyHeaders, readJson } from '../http/body';
import { compress } from '../http/compression';
import { bytesOf, send } from '../http/answer';
import { type Exchange, createIncomingRequest } from '../http/exchange';
import { type ApolloOptions, createApollo, type GraphqlCall } from './apollo';
import { runApollo, writeApollo } from './apolloHttp';
import { createDocumentStore, documentPoints, parseTurn, SHORT } from './documents';
import { createEventStreams } from './streams/eventStreams';
import type { Streaming } from './streams/subscribe';
import { QUERY_LIMITS } from './queryLimits';
import { completeErrors } from './errors';

export { GRAPHQL_ERRORS } from './errors';

/** Path of the GraphQL API, and of its schema as text. */
export const GRAPHQL_PATH = '/graphql';
export const SCHEMA_PATH = `${GRAPHQL_PATH}/schema.graphql`;

interface GraphqlOptions extends ApolloOptions {
  readonly openContext: OpenContext;
  /** Limits introspection without a key, per address. Omitted if such introspection is not allowed. */
  readonly introspectionLimiter?: RateLimiter;
  /** How often an open stream gets a comment, in milliseconds. */
  readonly commentEvery: number;
  /** Whether answers to callers with a key are compressed, if they accept that. */
  readonly compresses?: boolean;
}

type OpenCaller = (exchange: Exchange) => Promise<CallContext | undefined>;

export async function createGraphqlApi(options: GraphqlOptions) {
  const {
    schema,
    operations,
    openContext,
    introspection,
    introspectionLimiter,
    logger,
    commentEvery,
    compresses = false,
  } = options;
  const documents = createDocumentStore();
  const apollo = createApollo(options, documents);
  const eventStreams = createEventStreams({ logger, commentEvery });
  await apollo.start();

  /** Checks key, rate and plan before Apollo sees the request; without a key only public introspection is possible. */
  async function openCaller(exchange: Exchange): Promise<CallContext | undefined> {
    const mayIntrospect = introspection === 'public' && exchange.request.headers.authorization === undefined;
    if (!mayIntrospect) return openContext(createIncomingRequest(exchange));
    exchange.log.refusal = { reason: 'missing' };
    await chargeAddress(exchange, 1);
    return undefined;
  }

  async function chargeAddress({ address }: Exchange, points: number): Promise<void> {
    if (!introspectionLimiter) return;
    await spend(
      introspectionLimiter,
      addressBucket(address),
      points,
      'Too many requests without a key from this address',
    );
  }

  /** Takes points and a turn for a long document that has to be parsed and validated. */
  async function admit(exchange: Exchange, caller: CallContext | undefined, body: unknown): Promise<void> {
    const text = textOf(exchange, body);
    if (text === undefined || documents.knows(text)) return;
    await exchange.queue.loopTurn(exchange);
    const points = documentPoints(text);
    if (points === 0) return;
    await (caller ? caller.charge(points) : chargeAddress(exchange, points));
    await exchange.queue.take(exchange, 'query');
    await parseTurn();
  }

  let sdl: string | undefined;

  /** Answers with the schema as text, for callers who may introspect it. */
  async function sendSchema(exchange: Exchange): Promise<void> {
    const { method } = exchange.request;
    if (method !== 'GET' && method !== 'HEAD')
      throw new AppError('method_not_allowed', 'Only GET is allowed.', { allow: ['GET', 'HEAD'] });
    exchange.log.operation = 'introspection';
    await openCaller(exchange);
    if (introspection === 'off') throw new AppError('not_found', 'The schema is not public.');
    const text = bytesOf((sdl ??= keySdl(schema, operations)));
    send(exchange, 200, 'text/plain; charset=utf-8', compresses ? await compress(exchange, text) : text);
  }

  /** Sends Apollo's answer: as events of a subscription, as a stream of one result, or as JSON. */
  async function respond(call: GraphqlCall, answer: HTTPGraphQLResponse, isCompressed: boolean): Promise<void> {
    const { exchange, streaming, caller } = call;
    // answered with 503 in the meantime, because it took too long
    if (exchange.response.headersSent) return;
    // an answer that is already bytes has data, and its errors have the request id
    const whole = (text: string | Buffer): string | Buffer => {
      const edited = typeof text === 'string' ? withRequestId(exchange, text) : text;
      exchange.bodies.holdAnswer(exchange, Buffer.byteLength(edited), !call.isWrite);
      return edited;
    };
    if (caller && streaming?.subscription) {
      eventStreams.send(exchange, streaming.subscription, () => caller.pauses.yieldToOthers());
    } else if (streaming && answer.body.kind === 'complete' && isStreamed(streaming, answer)) {
      eventStreams.sendResult(exchange, whole(answer.body.string));
    } else {
      exchange.response.setHeader('X-Content-Type-Options', 'nosniff');
      // answers depend on the key or session, so proxies must not cache them, even errors that Apollo considers cacheable
      answer.headers.set('cache-control', 'no-store');
      const compressed = async (text: string | Buffer) => compress(exchange, bytesOf(whole(text)));
      await writeApollo(exchange.response, answer, isCompressed ? compressed : whole);
    }
  }

  return {
    /** Answers an exchange, or throws the AppError to answer with. `open` authenticates the caller (default: by key). */
    async handle(exchange: Exchange, open: OpenCaller = openCaller): Promise<void> {
      if (exchange.path === SCHEMA_PATH) {
        await sendSchema(exchange);
        return;
      }
      const { request } = exchange;
      const isPost = hasBody(request);
      const caller = await open(exchange);
      const body = isPost ? await readBody(exchange) : undefined;
      await admit(exchange, caller, body);
      const streaming = caller && open === openCaller ? streamingOf(request) : undefined;
      if (caller && streaming) Object.assign(caller, { lastEventId: lastEventIdOf(request) });
      const call: GraphqlCall = { exchange, caller, streaming, isWrite: false };
      // a stream that nobody may have is refused in JSON
      const accept = streaming || !caller ? (acceptBesideStream(request) ?? 'application/json') : acceptOf(request);
      const answer = await runApollo(apollo, exchange, body, () => Promise.resolve({ call }), accept);
      await respond(call, answer, compresses && open === openCaller);
    },
    stop: () => apollo.stop(),
  };
}

/** Whether the request has a body. @throws AppError method_not_allowed */
function hasBody({ method }: IncomingMessage): boolean {
  if (method === 'POST' || method === 'GET') return method === 'POST';
  throw new AppError('method_not_allowed', 'Only GET and POST are allowed.', { allow: ['GET', 'POST'] });
}

/** How to answer a request that accepts streams; undefined for any other request. */
function streamingOf(request: IncomingMessage): Streaming | undefined {
  if (request.method !== 'POST' || !acceptsStream(request)) return undefined;
  return { takesJson: acceptBesideStream(request) !== undefined };
}

/**
 * Whether an answer is a stream of one result: for a caller that accepts nothing else, or for a rejected subscription. One that is
 * refused with another status than 400 (an invalid query, which no retry helps) is not, since the status says whether to retry; clients of the
 * protocol retry every request that gets an error status.
 */
function isStreamed({ isSubscription, takesJson }: Streaming, { status = 200 }: HTTPGraphQLResponse): boolean {
  return (status === 200 || status === 400) && (isSubscription === true || !takesJson);
}

/** Where a client of Server-Sent Events resumes; undefined if it has received nothing. */
function lastEventIdOf({ headers }: IncomingMessage): string | undefined {
  const lastEventId = headers['last-event-id'];
  return typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined;
}

async function readBody(exchange: Exchange): Promise<unknown> {
  checkBodyHeaders(exchange.request, BODY_LIMIT);
  const body = await readJson(exchange, BODY_LIMIT);
  const query = queryIn(body);
  if (query !== undefined && Buffer.byteLength(query) > QUERY_LIMITS.bytes) {
    throw new AppError('payload_too_large', `The query text is larger than ${String(QUERY_LIMITS.bytes / 1024)} KiB.`);
  }
  return body;
}

function queryIn(body: unknown): string | undefined {
  const query = typeof body === 'object' && body !== null && 'query' in body ? body.query : undefined;
  return typeof query === 'string' ? query : undefined;
}

/** The text that Apollo will parse, if it is long. */
function textOf({ request, search }: Exchange, body: unknown): string | undefined {
  const text = request.method === 'POST' ? queryIn(body) : new URLSearchParams(search).get('query');
  return text !== null && text !== undefined && text.length > SHORT ? text : undefined;
}

function withRequestId(exchange: Exchange, text: string): string {
  if (!text.startsWith('{"errors"')) return text;
  const answer = JSON.parse(text) as { errors: { extensions?: Record<string, unknown> }[] };
  completeErrors(answer.errors, exchange);
  return `${JSON.stringify(answer)}\n`;
}

/** The schema as text for client generators, without the operations of users and what only they use. */
export function keySdl(schema: GraphQLSchema, operations: readonly Operation[]): string {
  const ofUsers = new Set(operations.filter(({ role }) => role !== undefined).map(({ name }) => name));
  const withoutUsers = (root: GraphQLSchemaConfig['query']): GraphQLObjectType | undefined => {
    if (!root) return undefined;
    const { fields, ...config } = root.toConfig();
    const kept = Object.entries(fields).filter(([name]) => !ofUsers.has(name));
    return new GraphQLObjectType({ ...config, fields: Object.fromEntries(kept) });
  };
  const { query, mutation, subscription, description } = schema.toConfig();
  const [reads, writes] = [query, mutation].map(withoutUsers);
  return `${printSchema(new GraphQLSchema({ query: reads, mutation: writes, subscription, description }))}\n`;
}
