import type { GraphQLArgument } from 'graphql';
import { type Fault, invalidRequest, shorten } from '../errors';
import { requireAcceptsJson } from '../http/requestHead';
import { BODY_LIMIT, BULK_BODY_LIMIT, checkBodyHeaders, readJson } from '../http/body';
import type { Exchange } from '../http/exchange';
import type { ArgumentChecks } from '../operations/argumentChecks';
import type { Field } from '../operations/selection';
import { normaliseKeys } from '../schema/callerKeys';
import { isInBody, isInPath, METHODS, perElement } from '../schema/declaredOperations';
import { IF_MATCH } from '../schema/entityTags';
import { type JsonSchema, MAY_BE_EMPTY, parameterSchema } from '../schema/jsonSchema';
import type { Arguments, RestOperation } from './routes';

/* Reads the arguments of requests, and checks them before Sofa, which does not: it coerces values, and ignores unknown parameters. */

export type ReadArguments = (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<Arguments>;

export function argumentReader(operation: RestOperation, { args }: Field, checks: ArgumentChecks): ReadArguments {
  const { hasBody } = METHODS[operation.rest.method];
  const readParameters = parameterReader(operation, args, checks);
  // what has many elements may be larger
  const limit = perElement(args).length > 0 ? BULK_BODY_LIMIT : BODY_LIMIT;
  return async (exchange, params) => {
    requireAcceptsJson(exchange.request);
    if (hasBody) checkBodyHeaders(exchange.request, limit);
    const given = readParameters(params, exchange);
    if (!hasBody) return given;
    const body = await readJson(exchange, limit);
    checks.body(body);
    return { ...given, ...(body as Arguments) };
  };
}

/** Reads and checks path, query and If-Match. */
function parameterReader(
  operation: RestOperation,
  args: readonly GraphQLArgument[],
  checks: ArgumentChecks,
): (params: Readonly<Record<string, string>>, exchange: Exchange) => Arguments {
  const { rest, takesIfMatch } = operation;
  const schemas = new Map(
    args.filter(({ name }) => !isInBody(rest, name)).map((argument) => [argument.name, parameterSchema(argument)]),
  );
  const inQuery = new Map([...schemas].filter(([name]) => !isInPath(rest.path, name) && name !== IF_MATCH));
  if (rest.includes !== undefined) inQuery.set(INCLUDE, { type: 'string' });
  return (params, { search, request }) => {
    const faults: Fault[] = [];
    const given: Arguments = {};
    for (const [name, raw] of Object.entries(params)) {
      const value = decode(raw);
      if (value === undefined) faults.push(badEncoding(name));
      else given[name] = coerce(value, schemas.get(name));
    }
    readQuery(search, inQuery, given, faults);
    const { 'if-match': sent } = request.headers;
    if (sent !== undefined && takesIfMatch) given[IF_MATCH] = sent;
    const found = checks.parameters(normaliseKeys(asksForAll(given) ? withoutInclude(given) : given));
    for (const fault of [...found, ...includeFaults(given, operation)]) {
      if (!faults.some((other) => other.parameter === fault.parameter)) faults.push(fault);
    }
    if (faults.length > 0) throw invalidRequest(faults);
    return given;
  };
}

function withoutInclude({ [INCLUDE]: _include, ...others }: Arguments): Arguments {
  return others;
}

function readQuery(search: string, known: ReadonlyMap<string, JsonSchema>, args: Arguments, faults: Fault[]): void {
  for (const part of search
    .slice(1)
    .split('&')
    .filter((piece) => piece !== '')) {
    const at = part.indexOf('=');
    const name = decode(at === -1 ? part : part.slice(0, at), true) ?? part;
    const value = decode(at === -1 ? '' : part.slice(at + 1), true);
    const schema = known.get(name);
    if (!schema) {
      faults.push({ parameter: shorten(name), code: 'unknown', detail: 'is not a parameter of this route' });
    } else if (value === undefined) {
      faults.push(badEncoding(name));
    } else if (value === '' && name === MAY_BE_EMPTY) {
      continue;
    } else if (schema.type === 'array') {
      const element = coerce(value, schema.items as JsonSchema);
      const list = (args[name] ??= []) as unknown[];
      // one too many is enough to be refused
      if (list.length <= ((schema.maxItems as number | undefined) ?? Infinity)) list.push(element);
    } else if (name in args) {
      faults.push({ parameter: name, code: 'repeated', detail: 'must not be repeated' });
    } else {
      args[name] = coerce(value, schema);
    }
  }
}

/** Converts a parameter to its type; if invalid, it stays a string and fails validation. */
function coerce(text: string, schema: JsonSchema | undefined): unknown {
  // elements of a list may be null, which no text is
  const [type] = [schema?.type].flat();
  if (type === 'integer' && /^-?\d{1,16}$/.test(text)) return Number(text);
  if (type === 'number' && /^-?\d{1,16}(\.\d{1,16})?$/.test(text)) return Number(text);
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

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

/** The parameter of a list that adds a field which its rows otherwise lack, such as `lines`: they are then what reading each object returns. */
const INCLUDE = 'include';

/** Maximum page size with `include`, since each row may have hundreds of lines. */
export const MOST_WITH = 50;

/** Whether the request has `include`. */
export function asksForAll({ include }: Arguments): boolean {
  return include !== undefined;
}

/** Faults of `include`, and of arguments that are too large with it. */
function includeFaults({ include, limit }: Arguments, { rest: { includes } }: RestOperation): Fault[] {
  if (include === undefined) return [];
  const faults: Fault[] = [];
  if (include !== includes)
    faults.push({ parameter: INCLUDE, code: 'not_allowed', detail: `must be one of ${String(includes)}` });
  if (Number(limit ?? 0) > MOST_WITH)
    faults.push({ parameter: 'limit', code: 'range', detail: `must be <= ${String(MOST_WITH)} with include` });
  return faults;
}
