import type { IncomingMessage } from 'node:http';
import { getNamedType, type GraphQLArgument, type GraphQLField, isRequiredArgument } from 'graphql';
import { type Fault, invalidRequest, shorten } from '../errors';
import { idempotencyKeyFault } from '../errors/idempotencyKey';
import { BODY_LIMIT, BULK_BODY_LIMIT, checkBodyHeaders, readJson } from '../http/body';
import type { Exchange } from '../http/exchange';
import { headerOf, requireAcceptsJson } from '../http/requestHead';
import type { ArgumentChecks } from '../operations/argumentChecks';
import type { Field } from '../operations/selection';
import { normaliseKeys } from '../schema/callerKeys';
import {
  isInBody,
  isInPath,
  METHODS,
  type Operation,
  perElement,
  type RestOperation,
} from '../schema/declaredOperations';
import { IF_MATCH, ifMatchFault } from '../schema/entityTags';
import { type JsonSchema, MAY_BE_EMPTY, parameterSchema } from '../schema/jsonSchema';
import { PAGE } from '../schema/sdl';

/* Finds the operation of a request, and reads its arguments. */

export type Arguments = Record<string, unknown>;

export interface RouteMatch {
  readonly methods: ReadonlyMap<string, RestOperation>;
  /** Path parameters, as sent. */
  readonly params: Readonly<Record<string, string>>;
}

/** Creates a router. From the left, literal segments win over parameters: `bulk` in /products/bulk is never an id. */
export function createRouter(operations: readonly Operation[]): (path: string) => RouteMatch | undefined {
  const routes = new Map<string, Map<string, RestOperation>>();
  for (const operation of restOperations(operations)) {
    const { path, method } = operation.rest;
    const methods = routes.get(path) ?? new Map<string, RestOperation>();
    routes.set(path, methods.set(method, operation));
  }
  const patterns = [...routes]
    .sort(([left], [right]) => shapeOf(left).localeCompare(shapeOf(right)))
    .map(([path, methods]) => ({ methods, pattern: new RegExp(`^${path.replaceAll(/:(\w+)/g, '(?<$1>[^/]+)')}$`) }));
  return (path) => {
    for (const { methods, pattern } of patterns) {
      const match = pattern.exec(path);
      if (match) return { methods, params: match.groups ?? {} };
    }
    return undefined;
  };
}

/** Whether the answer has the object's entity tag. After a PUT, a tag would mean "stored as sent" (RFC 9110, section 9.3.4). */
export function hasEntityTag(operation: RestOperation): boolean {
  return readsOneObject(operation) || (operation.rest.method === 'PATCH' && operation.takesIfMatch === true);
}

export function readsOneObject({ rest }: RestOperation): boolean {
  return rest.method === 'GET' && rest.path.endsWith('/:id');
}

/** Path prefix of the object that a write creates: the write's own path, or /jobs if the work goes on after the answer. */
export function locationOf({ rest: { status, path } }: RestOperation, all: readonly Operation[]): string | undefined {
  const below = status === 202 ? '/jobs' : path;
  const isRead = all.some(({ rest }) => rest?.method === 'GET' && rest.path === `${below}/:id`);
  return isRead && (status === 201 || status === 202) ? below : undefined;
}

/** Whether a POST may omit its body, since no member is required. A PATCH may not: it would change nothing. */
export function hasOptionalBody({ rest }: RestOperation, { args }: Pick<Field, 'args'>): boolean {
  return (
    rest.method === 'POST' && !args.some((argument) => isInBody(rest, argument.name) && isRequiredArgument(argument))
  );
}

export function answersPage({ type }: Pick<GraphQLField<unknown, unknown>, 'type'>): boolean {
  return getNamedType(type).name.endsWith(PAGE);
}

export function restOperations(operations: readonly Operation[]): RestOperation[] {
  return operations.filter((operation): operation is RestOperation => operation.rest !== undefined);
}

/** The sort key of a path, which puts literal segments (0) before parameters (1) from the left: `/products/bulk` is `/0/0`. */
function shapeOf(path: string): string {
  return path.replaceAll(/[^/]+/g, (segment) => (segment.startsWith(':') ? '1' : '0'));
}

/* Reads and checks arguments before they reach Sofa, which would coerce any value and ignore unknown parameters. */

export type ReadArguments = (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<Arguments>;

export function argumentReader(operation: RestOperation, field: Field, checks: ArgumentChecks): ReadArguments {
  const { args } = field;
  const { hasBody } = METHODS[operation.rest.method];
  const isOptional = hasOptionalBody(operation, field);
  const readParameters = parameterReader(operation, args, checks);
  // bulk calls may be larger
  const limit = perElement(args).length > 0 ? BULK_BODY_LIMIT : BODY_LIMIT;
  return async (exchange, params) => {
    requireAcceptsJson(exchange.request);
    const readsBody = hasBody && !(isOptional && hasNoBody(exchange.request));
    if (readsBody) checkBodyHeaders(exchange.request, limit);
    const args = readParameters(params, exchange);
    if (!readsBody) return args;
    const body = await readJson(exchange, limit);
    checks.body(body);
    return { ...args, ...(body as Arguments) };
  };
}

function hasNoBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0;
}

function parameterReader(
  operation: RestOperation,
  args: readonly GraphQLArgument[],
  checks: ArgumentChecks,
): (params: Readonly<Record<string, string>>, exchange: Exchange) => Arguments {
  const { rest, kind, takesIfMatch } = operation;
  const isRead = readsOneObject(operation);
  const schemas = new Map(
    args.filter(({ name }) => !isInBody(rest, name)).map((argument) => [argument.name, parameterSchema(argument)]),
  );
  const inQuery = new Map([...schemas].filter(([name]) => !isInPath(rest.path, name) && name !== IF_MATCH));
  if (rest.includes.length > 0) inQuery.set(INCLUDE, { type: 'array', items: { type: 'string' } });
  return (params, { search, request }) => {
    const faults: Fault[] = [];
    const args: Arguments = {};
    for (const [name, raw] of Object.entries(params)) {
      const value = decode(raw);
      if (value === undefined) faults.push(badEncoding(name));
      else args[name] = coerce(value, schemas.get(name));
    }
    readQuery(search, inQuery, args, faults);
    const { 'if-match': sent } = request.headers;
    if (sent !== undefined && takesIfMatch) args[IF_MATCH] = sent;
    const badVersion = sent !== undefined && isRead ? ifMatchFault(sent) : undefined;
    if (badVersion) faults.push(badVersion);
    const key = kind === 'Mutation' ? headerOf(request.headers, 'idempotency-key') : undefined;
    const badKey = key === undefined ? undefined : idempotencyKeyFault(key);
    if (badKey) faults.push(badKey);
    const parameterFaults = checks.parameters(normaliseKeys(INCLUDE in args ? withoutInclude(args) : args));
    for (const fault of [...parameterFaults, ...includeFaults(args, operation)]) {
      if (!faults.some((other) => other.parameter === fault.parameter)) faults.push(withListHint(fault, args));
    }
    if (faults.length > 0) throw invalidRequest(faults);
    return withFieldsIncluded(args, operation);
  };
}

function withoutInclude({ [INCLUDE]: _include, ...others }: Arguments): Arguments {
  return others;
}

/** The arguments with the names of fields in place of the values of `include` (`by`) that stand for them. */
function withFieldsIncluded(args: Arguments, { rest: { includes } }: RestOperation): Arguments {
  if (!(INCLUDE in args)) return args;
  const included = new Set(includedIn(args));
  return { ...args, [INCLUDE]: includes.flatMap(({ name, by }) => (included.has(by) ? [name] : [])) };
}

/** Adds the arguments in a query string to `args`, and what is wrong with them to `faults`. */
function readQuery(search: string, schemas: ReadonlyMap<string, JsonSchema>, args: Arguments, faults: Fault[]): void {
  for (const part of search
    .slice(1)
    .split('&')
    .filter((piece) => piece !== '')) {
    const at = part.indexOf('=');
    const name = decode(at === -1 ? part : part.slice(0, at), true) ?? part;
    const value = decode(at === -1 ? '' : part.slice(at + 1), true);
    const schema = schemas.get(name);
    if (!schema) {
      const list = /^(.+)\[\d*\]$/.exec(name)?.[1] ?? '';
      const hint = schemas.get(list)?.type === 'array' ? repeat(list) : '';
      faults.push({ parameter: shorten(name), code: 'unknown', detail: `is not a parameter of this route${hint}` });
    } else if (value === undefined) {
      faults.push(badEncoding(name));
    } else if (value === '' && name === MAY_BE_EMPTY) {
      continue;
    } else if (schema.type === 'array') {
      const element = coerce(value, schema.items as JsonSchema);
      const list = (args[name] ??= []) as unknown[];
      // one element too many is enough for the list to be refused
      if (list.length <= ((schema.maxItems as number | undefined) ?? Infinity)) list.push(element);
    } else if (name in args) {
      faults.push({ parameter: name, code: 'repeated', detail: 'must not be repeated' });
    } else {
      args[name] = coerce(value, schema);
    }
  }
}

/** How to send a list, for callers who are used to brackets or commas. */
function repeat(name: string): string {
  return `; repeat ${name} for several: ${name}=a&${name}=b`;
}

function withListHint(fault: Fault, args: Arguments): Fault {
  const { parameter = '', detail } = fault;
  const list: unknown = args[parameter];
  const isJoined = Array.isArray(list) && list.some((element) => typeof element === 'string' && element.includes(','));
  return isJoined ? { ...fault, detail: detail + repeat(parameter) } : fault;
}

/** Converts a parameter to its type; an invalid one stays a string and fails validation. */
function coerce(text: string, schema: JsonSchema | undefined): unknown {
  // elements of a list may be null, which a query string cannot express
  const [type] = [schema?.type].flat();
  if (type === 'integer' && /^-?\d+$/.test(text)) return Number(text);
  // about the digits that a double keeps: longer ones would be rounded
  if (type === 'number' && /^-?\d{1,16}(\.\d{1,16})?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Undefined if the percent-encoding is invalid. In a query, `+` is a space. */
function decode(text: string, isQuery = false): string | undefined {
  try {
    return decodeURIComponent(isQuery ? text.replaceAll('+', ' ') : text);
  } catch {
    return undefined;
  }
}

function badEncoding(parameter: string): Fault {
  return { parameter, code: 'encoding', detail: 'is not valid percent-encoded UTF-8' };
}

/** The parameter that adds fields which answers otherwise omit, such as the `lines` of a list's rows. */
const INCLUDE = 'include';

/** Maximum page size with a large field included, since each row may have hundreds of lines. */
export const MAX_LIMIT_WITH_LARGE = 50;

/** The fields that a request's `include` names. */
export function includedIn({ include = [] }: Arguments): readonly string[] {
  return include as readonly string[];
}

/** Faults of `include`, and of a `limit` that is too high for what is included. */
function includeFaults(args: Arguments, { rest: { includes } }: RestOperation): Fault[] {
  const included = includedIn(args);
  if (included.length === 0) return [];
  const faults: Fault[] = [];
  const names = includes.map(({ by }) => by);
  if (!included.every((name) => names.includes(name)))
    faults.push({ parameter: INCLUDE, code: 'not_allowed', detail: `must be one of ${names.join(', ')}` });
  const large = includes.find(({ by, isLarge }) => isLarge && included.includes(by));
  if (large && Number(args.limit ?? 0) > MAX_LIMIT_WITH_LARGE) {
    const detail = `must be <= ${String(MAX_LIMIT_WITH_LARGE)} with include=${large.by}`;
    faults.push({ parameter: 'limit', code: 'range', detail });
  }
  return faults;
}
