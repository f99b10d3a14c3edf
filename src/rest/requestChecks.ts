import type Ajv2020 from 'ajv/dist/2020';
import { type Fault, invalidRequest, shorten, validationFailed } from '../errors';
import { requireAcceptsJson } from '../http/accept';
import { BODY_LIMIT, BULK_BODY_LIMIT, checkBodyHeaders, readJson } from '../http/body';
import type { Exchange } from '../http/exchange';
import type { JsonSchema } from '../schema/jsonSchema';
import { normaliseKeys } from '../schema/callerKeys';
import { IF_MATCH, IF_MATCH_HEADER } from '../schema/entityTags';
import { asParameters, checkAtFirstUse, createAjv } from '../schema/validation';
import { bodySchema, type OpenApiDocument, type OpenApiOperation, type Parameter, type RequestBody } from './openapi';
import { includeFaults } from './openapi/include';
import type { Arguments, RestOperation } from './routes/routes';

/*
 * Validates requests before Sofa, which does not: it coerces values, ignores unknown parameters, and accepts any body.
 * Everything is validated against the published OpenAPI document.
 */

export type RequestCheck = (exchange: Exchange, params: Readonly<Record<string, string>>) => Promise<Arguments>;

export function requestChecks(document: OpenApiDocument): (operation: RestOperation) => RequestCheck {
  const ajv = createAjv().addSchema(document, 'openapi');
  return ({ rest }) => {
    const path = rest.path.replaceAll(/:(\w+)/g, '{$1}');
    const method = rest.method.toLowerCase();
    const described = document.paths[path]?.[method];
    if (!described) throw new Error(`${rest.method} ${path} is not in the OpenAPI document`);
    const checkParameters = parameterCheck(ajv, described);
    const checkBody = described.requestBody && bodyCheck(ajv, document, described.requestBody);
    // what has many elements (@per_element) may be larger
    const limit = described.requestBody?.['x-per-element'] ? BULK_BODY_LIMIT : BODY_LIMIT;
    return async (exchange, params) => {
      requireAcceptsJson(exchange.request);
      if (checkBody) checkBodyHeaders(exchange.request, limit);
      const args = checkParameters(params, exchange);
      if (!checkBody) return args;
      return { ...args, ...checkBody(await readJson(exchange, limit)) };
    };
  };
}

function bodyCheck(ajv: Ajv2020, document: OpenApiDocument, body: RequestBody): (body: unknown) => Arguments {
  const { 'x-per-element': lists = [] } = body;
  const schema = bodySchema(document, body);
  const properties = { ...(schema.properties as Record<string, JsonSchema>) };
  // accept any elements here, since the operation validates each of them individually
  for (const list of lists) properties[list] = { ...properties[list], items: {} };
  const check = checkAtFirstUse(() => ajv.compile(absolute({ ...schema, properties })));
  return (body) => {
    const { faults, more } = check(body);
    if (faults.length > 0) throw validationFailed(faults, more);
    return body as Arguments;
  };
}

/** Validates path, query and If-Match against the parameters in the document. */
function parameterCheck(
  ajv: Ajv2020,
  { parameters }: OpenApiOperation,
): (params: Readonly<Record<string, string>>, exchange: Exchange) => Arguments {
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const check = checkAtFirstUse(() =>
    ajv.compile({
      type: 'object',
      properties: Object.fromEntries(parameters.map(({ name, schema }) => [name, absolute(schema)])),
      required: parameters.filter(({ required }) => required).map(({ name }) => name),
    }),
  );
  return (params, { search, request }) => {
    const faults: Fault[] = [];
    const args: Arguments = {};
    for (const [name, raw] of Object.entries(params)) {
      const value = decode(raw);
      if (value === undefined) faults.push(badEncoding(name));
      else args[name] = coerce(value, known.get(name)?.schema);
    }
    readQuery(search, known, args, faults);
    const { 'if-match': sent } = request.headers;
    if (sent !== undefined && known.has(IF_MATCH_HEADER)) args[IF_MATCH_HEADER] = sent;
    for (const fault of [...asParameters(check(normaliseKeys(args)).faults), ...includeFaults(args)]) {
      if (!faults.some((other) => other.parameter === fault.parameter)) faults.push(fault);
    }
    if (faults.length > 0) throw invalidRequest(faults);
    const { [IF_MATCH_HEADER]: ifMatch, ...others } = args;
    return ifMatch === undefined ? args : { ...others, [IF_MATCH]: ifMatch };
  };
}

function readQuery(search: string, known: ReadonlyMap<string, Parameter>, args: Arguments, faults: Fault[]): void {
  for (const part of search
    .slice(1)
    .split('&')
    .filter((piece) => piece !== '')) {
    const at = part.indexOf('=');
    const name = decode(at === -1 ? part : part.slice(0, at), true) ?? part;
    const value = decode(at === -1 ? '' : part.slice(at + 1), true);
    const parameter = known.get(name);
    if (parameter?.in !== 'query') {
      faults.push({ parameter: shorten(name), code: 'unknown', detail: 'is not a parameter of this route' });
    } else if (value === undefined) {
      faults.push(badEncoding(name));
    } else if (value === '' && parameter.allowEmptyValue) {
      continue;
    } else if (parameter.schema.type === 'array') {
      const element = coerce(value, parameter.schema.items as JsonSchema);
      const list = (args[name] ??= []) as unknown[];
      // one too many is enough to be refused
      if (list.length <= ((parameter.schema.maxItems as number | undefined) ?? Infinity)) list.push(element);
    } else if (name in args) {
      faults.push({ parameter: name, code: 'repeated', detail: 'must not be repeated' });
    } else {
      args[name] = coerce(value, parameter.schema);
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

/** Makes the references in a schema absolute, so that they resolve outside the document. */
function absolute(schema: object): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/')) as object;
}
