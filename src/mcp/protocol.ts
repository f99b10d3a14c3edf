import type { IncomingHttpHeaders } from 'node:http';
import { shorten } from '../errors';
import { headerOf } from '../http/requestHead';

/*
 * Messages of the Model Context Protocol: JSON-RPC 2.0, one request or notification in each POST. Revision 2026-07-28 is stateless: each
 * request carries its version and the client's capabilities in `_meta`, and its headers must repeat version, method and name, so that
 * proxies can tell requests apart. Clients of 2025 open with `initialize` instead.
 */

export const STATELESS = '2026-07-28';
/** Versions that begin with `initialize`, the latest first. */
const WITH_HANDSHAKE: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26'];
export const VERSIONS: readonly string[] = [STATELESS, ...WITH_HANDSHAKE];
/** The version assumed for clients of 2025 that send none. */
const WITHOUT_HEADER = '2025-03-26';

/** Codes of JSON-RPC, and of the protocol (2026-07-28, section Error Codes). */
export const CODES = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  headers: -32020,
  version: -32022,
} as const;

/** An error of the protocol, not of an operation. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';

  constructor(
    readonly code: number,
    message: string,
    /** HTTP status. Clients of 2025 get 200 once their version is known, since they ignore the body of any other. */
    readonly status = 400,
    readonly data?: object,
  ) {
    super(message);
  }
}

export type Id = string | number;
export type Params = Readonly<Record<string, unknown>>;

export interface Message {
  /** Undefined for a notification. */
  readonly id: Id | undefined;
  readonly method: string;
  readonly params: Params;
}

/** The id of a request, also of one with other faults, so that its client can tell which request failed. */
export function idOf(body: unknown): Id | undefined {
  const id = isObject(body) ? body.id : undefined;
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as Id) : undefined;
}

/** @throws ProtocolError unless a body is a request or a notification */
export function readMessage(body: unknown): Message {
  if (Array.isArray(body)) throw new ProtocolError(CODES.request, 'Send one message in each request, not a list.');
  if (!isObject(body) || body.jsonrpc !== '2.0' || typeof body.method !== 'string') {
    throw new ProtocolError(
      CODES.request,
      'Send a JSON-RPC 2.0 request: {"jsonrpc":"2.0","id":1,"method":"tools/list"}.',
    );
  }
  const { method, params = {} } = body;
  const id = idOf(body);
  if (id === undefined && body.id !== undefined) {
    throw new ProtocolError(CODES.request, 'id must be a string or an integer.');
  }
  if (!isObject(params)) throw new ProtocolError(CODES.params, 'params must be an object.');
  return { id, method, params };
}

const META = 'io.modelcontextprotocol/';
const VERSION_KEY = `${META}protocolVersion`;
const CAPABILITIES_KEY = `${META}clientCapabilities`;
export const SERVER_KEY = `${META}serverInfo`;

/**
 * The protocol version of a request.
 * @throws ProtocolError if it is unknown, or if a request of 2026 is incomplete or contradicts its headers
 */
export function versionOf({ method, params }: Message, headers: IncomingHttpHeaders): string {
  const header = headerOf(headers, 'mcp-protocol-version');
  const meta = isObject(params._meta) ? params._meta : {};
  const { [VERSION_KEY]: said, [CAPABILITIES_KEY]: capabilities } = meta;
  if (said === undefined && header !== STATELESS && method !== 'server/discover') {
    if (header !== undefined && !VERSIONS.includes(header)) throw unknownVersion(header);
    return header ?? WITHOUT_HEADER;
  }
  if (typeof said !== 'string') throw new ProtocolError(CODES.params, `params._meta lacks ${VERSION_KEY}.`);
  agree('MCP-Protocol-Version', header, said);
  // an earlier one, which no client is known to say here, has the checks of this way and the answers of its own
  if (!VERSIONS.includes(said)) throw unknownVersion(said);
  if (!isObject(capabilities)) throw new ProtocolError(CODES.params, `params._meta lacks ${CAPABILITIES_KEY}.`);
  agree('Mcp-Method', headerOf(headers, 'mcp-method'), method);
  const { name } = params;
  if (method === 'tools/call' && typeof name === 'string')
    agree('Mcp-Name', decoded(headerOf(headers, 'mcp-name')), name);
  return said;
}

/** The version for a client of 2025: the one it asks for, or else the latest. */
export function agreedVersion({ protocolVersion }: Params): string {
  return typeof protocolVersion === 'string' && WITH_HANDSHAKE.includes(protocolVersion)
    ? protocolVersion
    : (WITH_HANDSHAKE[0] ?? WITHOUT_HEADER);
}

/** @throws ProtocolError unless a header repeats what the body says */
function agree(name: string, header: string | undefined, said: string): void {
  if (header === said) return;
  const problem = header === undefined ? 'is missing' : `is "${shorten(header)}", and the body says "${shorten(said)}"`;
  throw new ProtocolError(CODES.headers, `The header ${name} ${problem}.`);
}

function unknownVersion(requested: string): ProtocolError {
  const data = { supported: VERSIONS, requested: shorten(requested) };
  return new ProtocolError(CODES.version, 'Unsupported protocol version', 400, data);
}

const BASE64 = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

/** A header's value, which clients encode unless it is plain ASCII. */
function decoded(value: string | undefined): string | undefined {
  const encoded = value === undefined ? undefined : BASE64.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString();
}

export function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
