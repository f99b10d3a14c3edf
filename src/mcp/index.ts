import type { IncomingMessage } from 'node:http';
import type { OpenContext, DataContext } from '../operations/context';
import { AppError } from '../errors';
import { LOOPBACK_HOST, requireAcceptsJson } from '../http/requestHead';
import { BULK_BODY_LIMIT, checkBodyHeaders, readJson } from '../http/body';
import { compress } from '../http/compression';
import { JSON_TYPE, send } from '../http/answer';
import { createIncomingRequest, type Exchange } from '../http/exchange';
import { extraMembers } from '../http/problem';
import { toAppError } from '../mongo/toAppError';
import type { Runner } from '../operations/runner';
import { version } from '../package';
import { type Content, MAX_DATA } from './answer';
import { type Caller, type Calls, createCalls, type Incoming } from './call';
import { instructions } from './instructions';
import {
  agreedVersion,
  CODES,
  type Id,
  idOf,
  isStatelessRequest,
  type Message,
  ProtocolError,
  readMessage,
  SERVER_KEY,
  VERSIONS,
} from './protocol';
import { mayUse } from './tools';

/** Path of the API for assistants and agents (docs/decisions/mcp.md). */
export const MCP_PATH = '/mcp';

interface McpOptions {
  readonly runner: Runner;
  readonly openContext: OpenContext<DataContext>;
  /** The server's name, shown to people. */
  readonly title: string;
  /** What the API is for, as a sentence; undefined for the built-in one (instructions.ts). */
  readonly description: string | undefined;
  /** Origins whose pages may call it. */
  readonly origins: readonly string[];
}

const CAPABILITIES = { tools: {} };
/**
 * Members of 2026-07-28 that let a client keep the description of the server and its tools for five minutes: a changed scope shows within that.
 * Private, since tools depend on the key.
 */
const CACHING = { ttlMs: 300_000, cacheScope: 'private' } as const;

/** Returns a function that answers an exchange at /mcp, or throws the AppError to answer with. */
export function createMcpApi({
  runner,
  openContext,
  title,
  description,
  origins,
}: McpOptions): (exchange: Exchange) => Promise<void> {
  // created on first use, since that would add 70 ms to startup
  let createdCalls: Calls | undefined;
  const calls = (): Calls => (createdCalls ??= createCalls(runner));
  const server = { name: 'scopegate', title, version };
  return async (exchange) => {
    const { request } = exchange;
    refuseOrigin(request, origins);
    if (request.method !== 'POST') {
      throw new AppError('method_not_allowed', 'Only POST is allowed: there are no streams and no sessions.', {
        allow: ['POST'],
      });
    }
    const incoming: Incoming = { ...createIncomingRequest(exchange), idempotencyKey: undefined };
    const context = await openContext(incoming);
    requireMcpAllowed(context);
    requireAcceptsJson(request);
    checkBodyHeaders(request, BULK_BODY_LIMIT);
    let id: Id | undefined;
    // until it is known, so that a malformed message gets the status of its error
    let isStateless = true;
    try {
      const body = await readMessageBody(exchange);
      id = idOf(body);
      const message = readMessage(body);
      isStateless = isStatelessRequest(message, request.headers);
      // a notification: none has an effect here
      if (id === undefined) {
        exchange.response.statusCode = 202;
        exchange.response.end();
        return;
      }
      const asked = { calls: calls(), context, exchange, incoming, isStateless, server, description };
      const result = await resultOf(message, asked);
      const added = isStateless && { resultType: 'complete', _meta: { [SERVER_KEY]: server } };
      const text = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, result: { ...added, ...result } }));
      // not refusable after a tool call, which may have written; it has at most 80 kB (40 kB of text, whose quotes double in JSON), or a large object
      // of a type of the user's own (LEAST in answer.ts)
      exchange.bodies.holdAnswer(exchange, text.length, message.method !== 'tools/call');
      send(exchange, 200, JSON_TYPE, await compress(exchange, text));
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
      exchange.log.code = 'invalid_request';
      const { code, message, data } = error;
      // clients of 2025 treat any other status as the end of their session
      const status = isStateless ? error.status : 200;
      // left out while it is unknown: JSON-RPC wants null then, but MCP's schema (JSONRPCErrorResponse) has `id?: string | number`
      const idMember = id !== undefined && { id };
      send(
        exchange,
        status,
        JSON_TYPE,
        JSON.stringify({ jsonrpc: '2.0', ...idMember, error: { code, message, data } }),
      );
    }
  };
}

/** @throws AppError forbidden for pages of other sites, whose name may resolve to this server (DNS rebinding) */
function refuseOrigin({ headers: { origin, host } }: IncomingMessage, allowed: readonly string[]): void {
  if (origin === undefined || allowed.includes('*') || allowed.includes(origin)) return;
  const originHost = /^https?:\/\/(.*)$/.exec(origin)?.[1] ?? '';
  // a page that this machine itself serves at this port
  if (LOOPBACK_HOST.test(originHost) && originHost === host) return;
  throw new AppError('forbidden', 'Pages of this origin may not call it; see CORS_ORIGINS.');
}

/** @throws AppError forbidden if the key must not be used over MCP */
function requireMcpAllowed({ principal }: DataContext): void {
  if (principal.key.mcp === 'off')
    throw new AppError('forbidden', 'This key may not be used over MCP: its mcp setting is off.');
}

/** @throws ProtocolError for a body that is not JSON, nested too deeply, or cut off; AppError payload_too_large, unavailable */
async function readMessageBody(exchange: Exchange): Promise<unknown> {
  try {
    return await readJson(exchange, BULK_BODY_LIMIT);
  } catch (error) {
    if (error instanceof AppError && (error.status === 400 || error.status === 422)) {
      throw new ProtocolError(CODES.parse, error.detail);
    }
    throw error;
  }
}

interface MethodContext extends Caller {
  readonly calls: Calls;
  readonly isStateless: boolean;
  readonly server: { readonly name: string; readonly title: string; readonly version: string };
  readonly description: string | undefined;
}

/** @throws ProtocolError for an unknown method; also what the call throws */
async function resultOf(message: Message, asked: MethodContext): Promise<object> {
  const { method, params } = message;
  const { calls, context, isStateless, server, description } = asked;
  const { scopes } = context.principal;
  if (method === 'tools/call') return callTool(message, asked);
  if (method === 'tools/list') {
    const tools = calls.tools.filter((tool) => mayUse(tool, context)).map(({ definition }) => definition);
    return { tools, ...(isStateless && CACHING) };
  }
  if (method === 'server/discover' && isStateless) {
    const about = { supportedVersions: VERSIONS, capabilities: CAPABILITIES, serverInfo: server };
    return { ...about, instructions: instructions(description, scopes), ...CACHING };
  }
  if (method === 'initialize' && !isStateless) {
    const protocolVersion = agreedVersion(params);
    const about = { protocolVersion, capabilities: CAPABILITIES, serverInfo: server };
    return { ...about, instructions: instructions(description, scopes) };
  }
  if (method === 'ping' && !isStateless) return {};
  throw new ProtocolError(CODES.method, 'There is no such method.', 404);
}

/** Whether a model cannot correct an error; its client gets what REST would answer. */
function isForClient({ status, code }: AppError): boolean {
  return (
    status === 401 || status === 429 || status >= 500 || code === 'plan_required' || code === 'organisation_suspended'
  );
}

async function callTool({ params }: Message, asked: MethodContext): Promise<object> {
  const { calls, exchange } = asked;
  try {
    const content = await calls.call(params, asked);
    const isReplay = exchange.response.hasHeader('Idempotent-Replayed');
    return { content: isReplay ? [...content, REPLAYED] : content, isError: false };
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    const appError = toAppError(error);
    if (isForClient(appError)) throw error;
    exchange.log.code = appError.code;
    return { content: [errorBlock(appError, exchange.requestId)], isError: true };
  }
}

const REPLAYED: Content = {
  type: 'text',
  text: 'This is the answer of the first call with this idempotency_key; nothing was done again.',
};

/** The error of a call, for a model to correct: as many of its faults as fit, or its detail if there are none. */
function errorBlock({ code, status, detail, extras }: AppError, requestId: string): Content {
  const { errors = [], moreErrors = 0 } = extras;
  const detailMember = errors.length > 0 ? {} : { detail };
  const withFaults = (count: number): string => {
    const more = moreErrors + errors.length - count;
    const listed = { ...(count > 0 && { errors: errors.slice(0, count) }), ...(more > 0 && { moreErrors: more }) };
    const members = extraMembers({ ...extras, ...listed });
    return JSON.stringify({ code, status, ...detailMember, ...members, request_id: requestId });
  };
  let count = errors.length;
  let text = withFaults(count);
  // a fault repeats the caller's names, whose characters may take six bytes each
  while (count > 1 && Buffer.byteLength(text) > MAX_DATA) {
    count = Math.floor(count / 2);
    text = withFaults(count);
  }
  return { type: 'text', text };
}
