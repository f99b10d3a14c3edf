import type { IncomingHttpHeaders } from 'node:http';
import { shorten } from '../errors';
import { headerOf } from '../http/requestHead';

/*
 * Messages of the Model Context Protocol: JSON-RPC 2.0, one request or notification in each POST. Revision 2026-07-28 is stateless: each
 * request carries its version and the client's capabilities in `_meta`, and its headers must repeat version, method and name, so that
 * proxies can tell requests apart. Clients of 2025 open with `initialize` instead, and later name the agreed version in a header, if at all.
 */

export const STATELESS = '2026-07-28';
const LATEST_WITH_HANDSHAKE = '2025-11-25';
/** Versions that begin with `initialize`; answers are the same in all of them. */
const WITH_HANDSHAKE: readonly string[] = [LATEST_WITH_HANDSHAKE, '2025-06-18', '2025-03-26'];
export const VERSIONS: readonly string[] = [STATELESS, ...WITH_HANDSHAKE];

/** Codes of JSON-RPC, and of the protocol (2026-07-28, section Error Codes). */
export const CODES = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  headers: -32020,
  version: -32022,
} as const;

/** An error in the use of the protocol, answered as a JSON-RPC error; a failed operation is an AppError. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError';

  constructor(
    readonly code: number,
    message: string,
    /** HTTP status for stateless requests; index.ts answers those of 2025 with 200. */
    readonly status = 400,
    /** The member `data` of the JSON-RPC error. */
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

/** The longest id of a request, in characters: its answer repeats it. */
const LONGEST_ID = 1000;

/** The id of a request, also of one with other faults, so that its client can tell which request failed. */
export function idOf(body: unknown): Id | undefined {
  const id = isObject(body) ? body.id : undefined;
  const isId = typeof id === 'string' ? id.length <= LONGEST_ID : Number.isSafeInteger(id);
  return isId ? (id as Id) : undefined;
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
    throw new ProtocolError(
      CODES.request,
      `id must be an integer, or a string of at most ${String(LONGEST_ID)} characters.`,
    );
  }
  if (!isObject(params)) throw new ProtocolError(CODES.params, 'params must be an object.');
  return { id, method, params };
}

const META = 'io.modelcontextprotocol/';
const VERSION_KEY = `${META}protocolVersion`;
const CAPABILITIES_KEY = `${META}clientCapabilities`;
export const SERVER_KEY = `${META}serverInfo`;

/**
 * Whether a request is of revision 2026-07-28, and not of 2025: the one place that decides by whose rules it is checked and answered. A version in
 * `_meta` decides, since only that revision has one there; the header and the method do if `_meta` has none.
 * @throws ProtocolError if the version is unknown, or if a request of 2026 is incomplete or contradicts its headers
 */
export function isStatelessRequest({ method, params }: Message, headers: IncomingHttpHeaders): boolean {
  const header = headerOf(headers, 'mcp-protocol-version');
  const meta = isObject(params._meta) ? params._meta : {};
  const { [VERSION_KEY]: version, [CAPABILITIES_KEY]: capabilities } = meta;
  if (version === undefined && header !== STATELESS && method !== 'server/discover') {
    if (header !== undefined && !WITH_HANDSHAKE.includes(header)) throw unsupportedVersion(header, VERSIONS);
    return false;
  }
  if (typeof version !== 'string') throw new ProtocolError(CODES.params, `params._meta lacks ${VERSION_KEY}.`);
  requireRepeated('MCP-Protocol-Version', header, version);
  // one of 2025 is supported, but only after `initialize`
  if (WITH_HANDSHAKE.includes(version)) throw unsupportedVersion(version, [STATELESS]);
  if (version !== STATELESS) throw unsupportedVersion(version, VERSIONS);
  if (!isObject(capabilities)) throw new ProtocolError(CODES.params, `params._meta lacks ${CAPABILITIES_KEY}.`);
  requireRepeated('Mcp-Method', headerOf(headers, 'mcp-method'), method);
  const { name } = params;
  if (method === 'tools/call' && typeof name === 'string')
    requireRepeated('Mcp-Name', decodedHeader(headerOf(headers, 'mcp-name')), name);
  return true;
}

/** The version for a client of 2025: the one it asks for, or else the latest. */
export function agreedVersion({ protocolVersion }: Params): string {
  const isKnown = typeof protocolVersion === 'string' && WITH_HANDSHAKE.includes(protocolVersion);
  return isKnown ? protocolVersion : LATEST_WITH_HANDSHAKE;
}

/** @throws ProtocolError unless a header repeats what the body says */
function requireRepeated(name: string, header: string | undefined, said: string): void {
  if (header === said) return;
  const problem = header === undefined ? 'is missing' : `is "${shorten(header)}", and the body says "${shorten(said)}"`;
  throw new ProtocolError(CODES.headers, `The header ${name} ${problem}.`);
}

function unsupportedVersion(requested: string, supported: readonly string[]): ProtocolError {
  const data = { supported, requested: shorten(requested) };
  return new ProtocolError(CODES.version, 'Unsupported protocol version', 400, data);
}

/** How the protocol writes a header value that is not plain ASCII. */
const BASE64 = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/;

function decodedHeader(value: string | undefined): string | undefined {
  const encoded = value === undefined ? undefined : BASE64.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, 'base64').toString();
}

export function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
