import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { GraphQLSchema } from 'graphql';
import type { Fault } from '../errors';
import { BODY_BOUNDS, checkedJson, type JsonBounds } from '../http/json';
import { publishedSchemas } from '../gateway/schemas';
import { ATTACHMENTS } from '../schema/attachmentNames';
import { published } from '../schema/model';
import { componentSchemas, type JsonSchema, SCHEMA_ROOT } from '../schema/jsonSchema';
import { checkWith, createAjv, requireSchema } from '../schema/validation';
import { addedMembers } from '../sdl/files';
import { brokenTexts, replaceNegativeZero } from '../stored/brokenTexts';
import { withDefaults } from '../stored/merge';
import type { ImportRecord, RecordKind } from '../stored/records';
import {
  isObjectSchema,
  normaliseIdentifiers,
  type RecordSchemas,
  reshape,
  resolveSchema,
} from '../stored/recordSchemas';
import { CommandFailure } from './ending';
import { type Line, UNREADABLE } from './ndjson';

/* The files that import reads and export writes: their names, schemas and records. */

/** The files of an export that are not record files. */
export const ORGANISATION_FILE = 'organisation.json';
export const KEYS_FILE = 'keys.ndjson';
export const WEBHOOKS_FILE = 'webhooks.ndjson';
/** The folder of the files of attachments, each named by its id. */
export const ATTACHMENTS_FOLDER = ATTACHMENTS;

/** The path of a file of an export that `--keys` or `--webhooks` writes and reads. @throws CommandFailure if there is no such file */
export function requireFile(folder: string, name: typeof KEYS_FILE | typeof WEBHOOKS_FILE): string {
  const path = join(folder, name);
  if (statSync(path, { throwIfNoEntry: false })?.isFile()) return path;
  const option = name === KEYS_FILE ? '--keys' : '--webhooks';
  throw new CommandFailure(`there is no ${path}; export with ${option}, or import without it`);
}

/** What an export does not have, or an import did not load, with these options: both say so at their end. */
export function missingIn({
  keys,
  webhooks,
}: {
  readonly keys?: true | undefined;
  readonly webhooks?: true | undefined;
}): string {
  return [
    ...(keys ? [] : ['keys (--keys)']),
    ...(webhooks ? [] : ['webhook endpoints (--webhooks)']),
    'events and deliveries of webhooks',
    'members, invitations and sessions',
    'the audit log',
    'the request log',
    'usage',
    'answers kept for an Idempotency-Key',
    'connected apps',
    'its sandbox',
  ].join(', ');
}

/** The schemas for reading and writing records: the SDL's types without `omit`, plus `lists`. */
export function recordSchemas(schema: GraphQLSchema, kinds: readonly RecordKind[]): RecordSchemas {
  const schemas = withoutAdded(componentSchemas(schema, { elementBounds: true, closed: true }));
  for (const kind of kinds) {
    const lists = Object.entries(kind.lists ?? {}).map(([member, { type, omit }]) => {
      const name = `${recordName(kind)}.${member}`;
      schemas[name] = reshape(schemas, type, omit, {});
      return [member, { type: 'array', items: { $ref: SCHEMA_ROOT + name } }] as const;
    });
    schemas[recordName(kind)] = reshape(schemas, kind.type, kind.omit ?? [], Object.fromEntries(lists));
  }
  return schemas;
}

/**
 * The schemas without the members of the user's folder (SCHEMA_DIR) in `required`, since what was exported before lacks them. What a record may
 * lack is up to {@link reshape}.
 */
function withoutAdded(schemas: RecordSchemas): Record<string, JsonSchema> {
  const added = addedMembers();
  return Object.fromEntries(
    Object.entries(schemas).map(([type, schema]) => {
      const required = schema.required as readonly string[] | undefined;
      if (!required || added.size === 0) return [type, schema];
      return [type, { ...schema, required: required.filter((member) => !added.has(`${type}.${member}`)) }];
    }),
  );
}

export function fileName(kind: RecordKind): string {
  return `${kind.file}.ndjson`;
}

/** Name of a kind's schema, such as `record.quotes`; the dot keeps it distinct from SDL types. */
export function recordName(kind: RecordKind): string {
  return `record.${kind.file}`;
}

/** Formats a value as JSON. */
export type ToJson = (value: unknown) => string;

/**
 * Creates a writer of records formatted like the example files: members in SDL order, `, ` and `: ` as separators, non-ASCII
 * unescaped. `decimals` are members written with a decimal point even if the number is whole.
 */
export function recordWriter(schemas: RecordSchemas, schema: JsonSchema, decimals: readonly string[] = []): ToJson {
  const target = resolveSchema(schemas, schema);
  if (isObjectSchema(target)) {
    const members = Object.entries(target.properties).map(([name, declared]) => {
      const toJson = decimals.includes(name) ? decimalToJson : recordWriter(schemas, declared, decimals);
      return { name, prefix: `${JSON.stringify(name)}: `, toJson, isAlwaysWritten: target.required.includes(name) };
    });
    return (value) => {
      if (value === null || value === undefined) return 'null';
      const row = value as Record<string, unknown>;
      // a member that a row has never had is left out, so that the row is unchanged when it is imported again
      const there = members.filter(({ name, isAlwaysWritten }) => isAlwaysWritten || row[name] !== undefined);
      return `{${there.map(({ name, prefix, toJson }) => prefix + toJson(row[name])).join(', ')}}`;
    };
  }
  if (target.items !== undefined) {
    const toJson = recordWriter(schemas, target.items as JsonSchema, decimals);
    return (value) => (Array.isArray(value) ? `[${value.map(toJson).join(', ')}]` : 'null');
  }
  // metadata
  if (typeof target.additionalProperties === 'object') {
    return (value) => {
      const members = Object.entries(value ?? {});
      return `{${members.map(([key, text]) => `${JSON.stringify(key)}: ${JSON.stringify(String(text))}`).join(', ')}}`;
    };
  }
  const types = [target.type].flat();
  // a Date serialises as ISO 8601
  return (value) => JSON.stringify(asServed(value, types) ?? null);
}

/** What the API shows of a value, whose type another program may not have kept: a number as a text, or 0 as false. */
function asServed(value: unknown, types: readonly unknown[]): unknown {
  if (types.includes('string')) return typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
  return types.includes('boolean') && typeof value === 'number' ? value !== 0 : value;
}

function decimalToJson(value: unknown): string {
  return typeof value === 'number' && Number.isInteger(value) ? value.toFixed(1) : JSON.stringify(value ?? null);
}

/** Parses a line into its record, or into every fault found. */
export type ReadRecord = (
  line: Line['content'],
) => { readonly record: ImportRecord } | { readonly faults: readonly Fault[] };

/** Creates the line reader of each kind, from the SDL; with an `organisation`, records may lack members that have a default. */
export function recordReaders(
  kinds: readonly RecordKind[],
  organisation?: { readonly currency: string },
): (kind: RecordKind) => ReadRecord {
  const schemas = recordSchemas(publishedSchemas().rest, kinds);
  const ajv = createAjv().addSchema({ components: { schemas } }, 'records');
  return (kind) => {
    const check = checkWith(requireSchema(ajv, `records${SCHEMA_ROOT}${recordName(kind)}`));
    const { members = [] } = published.stored.get(kind.type) ?? {};
    const lists = Object.entries(kind.lists ?? {}).map(([name, { type }]) => {
      return { name, type, members: published.stored.get(type)?.members ?? [] };
    });
    return (line) => {
      if ('fault' in line) return { faults: [UNREADABLE[line.fault]] };
      const parsed = parse(line.text);
      if (parsed instanceof SyntaxError) {
        return { faults: [{ pointer: '', code: 'json', detail: `is not JSON: ${oneLine(parsed.message)}` }] };
      }
      const checked = checkedJson(line.text, LINE_BOUNDS);
      if (checked.fault) return { faults: [checked.fault] };
      // the text differs if it had a number that parsing would round to an integer
      const value = checked.text === line.text ? parsed : parse(checked.text);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return { faults: [{ pointer: '', code: 'type', detail: 'must be a JSON object' }] };
      }
      const record = (organisation ? withDefaults(members, value, organisation) : value) as ImportRecord;
      // before the check, which bounds the stored length: a string may be longer in NFC
      normaliseIdentifiers(record, [...members, ...lists]);
      replaceNegativeZero(record);
      const { faults: schemaFaults, more } = check(record);
      const faults = [...schemaFaults, ...brokenTexts(record)];
      if (more > 0) faults.push({ pointer: '', code: 'more', detail: `has ${String(more)} more faults` });
      if (faults.length > 0) return { faults };
      const broken = kind.rules(record);
      return broken.length > 0 ? { faults: broken } : { record };
    };
  };
}

/** Files come from the operator, so only their depth is limited, for the sake of the parser. */
const LINE_BOUNDS: JsonBounds = {
  depth: BODY_BOUNDS.depth,
  containers: Infinity,
  names: Infinity,
  wideMembers: Infinity,
  orderMembers: Infinity,
  inexactNumbers: Infinity,
};

/** The value of a JSON text, or the SyntaxError. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    return error;
  }
}

/** The parser quotes the invalid text, which may be long or contain control characters. */
function oneLine(message: string): string {
  return message.replaceAll(/\p{Cc}+/gu, ' ').slice(0, 200);
}
