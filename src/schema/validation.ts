import Ajv2020, { type ErrorObject, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { GraphQLSchema } from 'graphql';
import { boundKeywords, type Bounds } from './boundedKeywords';
import { isCurrency, wasCurrency } from './currency';
import {
  type Check,
  type Fault,
  type FaultCode,
  type FaultLimits,
  type Findings,
  MAX_FAULTS,
  shorten,
} from '../errors';
import { componentSchemas, type JsonSchemaOptions, SCHEMA_ROOT } from './jsonSchema';
import { accepts, scalars } from './scalars';
import { isRef, UUID } from '../units';

const NO_FAULTS: Findings = { faults: [], more: 0, isTruncated: false };
/** How many faults are kept and counted, unless a caller says otherwise. */
const DEFAULT_LIMITS: FaultLimits = { kept: MAX_FAULTS, counted: Infinity };

/** Maximum length of a string to match against a format: longer than any valid one, too short to overflow the regex stack. */
const MAX_CHARACTERS = 320;

/** Creates an ajv that finds every fault, and checks dates, times and ids as the scalars do. */
export function createAjv(): Ajv2020 {
  // no validateSchema: a test checks the generated schemas against the meta-schema, and compiling that would slow every start
  // strictNumbers, which strict would imply: JSON has no Infinity, but 1e400 becomes it
  const options = { strict: false, strictNumbers: true, validateSchema: false, logger: false } as const;
  const ajv = new Ajv2020({ allErrors: true, verbose: true, passContext: true, ...options });
  addFormats(ajv);
  ajv.addFormat('uuid', UUID);
  ajv.addFormat('date-time', (text) => accepts(scalars.DateTime, text));
  ajv.addFormat('date', (text) => accepts(scalars.Date, text));
  for (const [name, format] of Object.entries(ajv.formats)) {
    if (format instanceof RegExp) ajv.addFormat(name, (text) => text.length <= MAX_CHARACTERS && format.test(text));
  }
  for (const name of ['organisation', 'customer']) ajv.addFormat(name, (text) => UUID.test(text) || isRef(text));
  ajv.addFormat('currency', isCurrency);
  ajv.addFormat('known-currency', wasCurrency);
  // ajv must know them, but minimum and maximum already report what they would
  for (const name of NUMBER_FORMATS) ajv.addFormat(name, true);
  return boundKeywords(ajv, { distinct, countFrom });
}

const NUMBER_FORMATS: readonly string[] = ['int32', 'int64', 'float', 'double'];

/** Checks by type name (`Quote`, `ProductUpsert`), compiled from the SDL at first use. */
export function typeChecks(schema: GraphQLSchema, options: JsonSchemaOptions): (type: string) => Check {
  const ajv = createAjv().addSchema({ components: { schemas: componentSchemas(schema, options) } }, 'types');
  const checks = new Map<string, Check>();
  return (type) => {
    let check = checks.get(type);
    if (!check) checks.set(type, (check = checkWith(requireSchema(ajv, `types${SCHEMA_ROOT}${type}`))));
    return check;
  };
}

/** The validator for a reference into a schema that was added before. */
export function requireSchema(ajv: Ajv2020, reference: string): ValidateFunction {
  const validate = ajv.getSchema(reference);
  if (!validate) throw new Error(`there is no schema ${reference}`);
  return validate;
}

/** A check whose schema is compiled when it is first used: compiling all of them takes most of the start-up time. */
export function checkAtFirstUse(compile: () => ValidateFunction): Check {
  let check: Check | undefined;
  return (value, limits) => (check ??= checkWith(compile()))(value, limits);
}

/** The check of a validator made by {@link createAjv}. */
export function checkWith(validate: ValidateFunction): Check {
  return (value, limits = DEFAULT_LIMITS) => {
    const bounds: Bounds = { ...limits, unkept: 0, isTruncated: false };
    if (validate.call(bounds, value)) return NO_FAULTS;
    const errors = distinct(validate.errors ?? []);
    const faults = errors.slice(0, limits.kept).map(toFault);
    return { faults, more: bounds.unkept + errors.length - faults.length, isTruncated: bounds.isTruncated };
  };
}

/** One error per fault: the first for each place and code. */
function distinct(errors: readonly ErrorObject[]): ErrorObject[] {
  const byFault = new Map<string, ErrorObject>();
  for (const error of errors) {
    if (isNoise(error)) continue;
    const fault = `${error.instancePath} ${codeOf(error)} ${memberOf(error) ?? ''}`;
    if (!byFault.has(fault)) byFault.set(fault, error);
  }
  return [...byFault.values()];
}

/** Number of faults from an index on. Errors for the same fault are adjacent, from different keywords. */
function countFrom(errors: readonly ErrorObject[], start: number): number {
  let faults = 0;
  for (let at = start; at < errors.length; at += 1) {
    const error = errors[at];
    const before = errors[at - 1];
    if (error && !isNoise(error) && !(before && isSameFault(error, before))) faults += 1;
  }
  return faults;
}

function isSameFault(left: ErrorObject, right: ErrorObject): boolean {
  const isSamePlace = left.parentSchema === right.parentSchema && left.data === right.data;
  return (
    isSamePlace &&
    left.keyword !== right.keyword &&
    codeOf(left) === codeOf(right) &&
    memberOf(left) === memberOf(right)
  );
}

/** Whether an error only follows from another: `anyOf [type, null]` adds two, for itself and its null branch, and an enum one for null. */
function isNoise(error: ErrorObject): boolean {
  if (error.keyword === 'enum' && error.data === null) return true;
  return error.keyword === 'anyOf' || (error.keyword === 'type' && error.params.type === 'null');
}

const CODES: Readonly<Record<string, FaultCode>> = {
  required: 'required',
  type: 'type',
  format: 'format',
  pattern: 'format',
  minLength: 'length',
  maxLength: 'length',
  minItems: 'length',
  maxItems: 'length',
  maxProperties: 'length',
  minimum: 'range',
  maximum: 'range',
  enum: 'not_allowed',
  additionalProperties: 'unknown',
};

function toFault(error: ErrorObject): Fault {
  const member = memberOf(error);
  const pointer = member === undefined ? error.instancePath : `${error.instancePath}/${escapePointer(member)}`;
  const code = codeOf(error);
  return { pointer, code, detail: detailOf(error, code) };
}

function memberOf({ params, propertyName }: ErrorObject): string | undefined {
  return (params.missingProperty ?? params.additionalProperty ?? propertyName) as string | undefined;
}

function codeOf({ keyword, data, params }: ErrorObject): FaultCode {
  // to callers, null for a required value means it is missing, and a blank name is too short
  if (keyword === 'type' && data === null) return 'required';
  if (keyword === 'type' && isInfinite(data)) return 'range';
  if (keyword === 'pattern' && params.pattern === NOT_BLANK) return 'length';
  return CODES[keyword] ?? 'invalid';
}

/** Whether a number was too large for JavaScript, such as 1e400 in JSON. */
function isInfinite(data: unknown): boolean {
  return typeof data === 'number' && !Number.isFinite(data);
}

function detailOf(error: ErrorObject, code: FaultCode): string {
  const detail = detailOfValue(error, code);
  return error.propertyName === undefined ? detail : `has a key that ${detail}`;
}

function detailOfValue(error: ErrorObject, code: FaultCode): string {
  switch (error.keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'enum':
      return `must be one of ${(error.params.allowedValues as (string | null)[]).filter((value) => value !== null).join(', ')}`;
    case 'type':
      if (code === 'range') return 'is beyond the largest number, about 1.8e308';
      return code === 'required' ? 'must not be null' : `must be ${typeName(error.params.type)}`;
    case 'format':
      return formatDetail(String(error.params.format)) + plusHint(error);
    case 'pattern':
      return error.params.pattern === NOT_BLANK
        ? 'must contain more than white space'
        : `must match ${String(error.params.pattern)}`;
    default:
      if (code === 'length' && error.keyword.startsWith('min') && error.params.limit === 1) return 'must not be empty';
      if (error.keyword === 'maxProperties') return `must not have more than ${String(error.params.limit)} keys`;
      return error.message?.replace('NOT have', 'not have') ?? 'is invalid';
  }
}

const formatDetail = (format: string): string => `must be a valid ${FORMAT_WORDS[format] ?? format}`;

/** Whether a fault is that of a text that is no UUID. */
export const isUuidFault = ({ code, detail }: Fault): boolean => code === 'format' && detail === formatDetail('uuid');

/** In a URL, the + of an offset is a space unless it is encoded. */
function plusHint({ data, params }: ErrorObject): string {
  // bounded as for formats: the time of the pattern grows with the square of the length
  const isShort = typeof data === 'string' && data.length <= MAX_CHARACTERS;
  const isOffset = params.format === 'date-time' && isShort && /T.* \d\d:\d\d$/.test(data);
  return isOffset ? '; write + as %2B in a URL' : '';
}

/** The pattern of names and keys in the SDL: at least one character that is not white space. */
export const NOT_BLANK = '\\S';

const FORMAT_WORDS: Record<string, string> = {
  uuid: 'UUID',
  organisation: 'UUID, or `ref:` and an external_ref',
  customer: 'UUID, or `ref:` and an external_ref',
  'date-time': 'date-time (RFC 3339, e.g. 2026-11-21T09:00:00.000Z)',
  date: 'date (YYYY-MM-DD)',
  email: 'email address',
  currency: 'currency code in use (ISO 4217)',
  'known-currency': 'currency code (ISO 4217)',
};

const TYPE_WORDS: Record<string, string> = {
  object: 'an object',
  array: 'an array',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
};

function typeName(type: unknown): string {
  const names = (Array.isArray(type) ? type : [type]).filter((name) => name !== 'null').map(String);
  return names.map((name) => TYPE_WORDS[name] ?? name).join(' or ');
}

/** Faults of arguments as faults of parameters, which have names instead of pointers. */
export function asParameters(faults: readonly Fault[]): Fault[] {
  return faults.map(({ pointer, ...fault }) => ({ parameter: pointer?.split('/')[1] ?? '', ...fault }));
}

/** Escapes a member name as a JSON Pointer token (RFC 6901), truncated if longer than any known name. */
export function escapePointer(token: string): string {
  return shorten(token).replaceAll('~', '~0').replaceAll('/', '~1');
}
