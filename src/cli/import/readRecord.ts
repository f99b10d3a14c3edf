import type { Fault } from '../../errors';
import { brokenTexts, replaceNegativeZero } from '../../stored/brokenTexts';
import { BODY_BOUNDS, type JsonBounds, structureFault } from '../../http/json';
import type { ImportRecord, RecordKind } from '../../stored/records';
import { publishedSchemas } from '../../published';
import { SCHEMA_ROOT } from '../../schema/jsonSchema';
import { checkWith, createAjv, requireSchema } from '../../schema/validation';
import { respellNames } from '../records/ids';
import { recordName, recordSchemas, resolveSchema } from '../records/schemas';
import type { Line } from './ndjsonLines';

/** Parses a line into its record, or into every fault found. */
export type ReadRecord = (
  line: Line['content'],
) => { readonly record: ImportRecord } | { readonly faults: readonly Fault[] };

/** Creates the line reader of each kind, from the SDL. */
export function recordReaders(kinds: readonly RecordKind[]): (kind: RecordKind) => ReadRecord {
  const schemas = recordSchemas(publishedSchemas().rest, kinds);
  const ajv = createAjv().addSchema({ components: { schemas } }, 'records');
  return (kind) => {
    const reference = SCHEMA_ROOT + recordName(kind);
    const check = checkWith(requireSchema(ajv, `records${reference}`));
    const amend = respellNames(schemas, resolveSchema(schemas, { $ref: reference }));
    return (line) => {
      if ('fault' in line) return { faults: [UNREADABLE[line.fault]] };
      const value = parse(line.text);
      if (value instanceof SyntaxError) {
        return { faults: [{ pointer: '', code: 'json', detail: `is not JSON: ${oneLine(value.message)}` }] };
      }
      const built = structureFault(line.text, LINE_BOUNDS);
      if (built) return { faults: [built] };
      if (typeof value !== 'object' || value === null || Array.isArray(value)) {
        return { faults: [{ pointer: '', code: 'type', detail: 'must be a JSON object' }] };
      }
      const record = value as ImportRecord;
      // before the check, which bounds the stored length: a text may be longer in NFC
      amend(record);
      replaceNegativeZero(record);
      const { faults: found, more } = check(record);
      const faults = [...found, ...brokenTexts(record)];
      if (more > 0) faults.push({ pointer: '', code: 'more', detail: `has ${String(more)} more faults` });
      if (faults.length > 0) return { faults };
      const broken = kind.rules(record);
      return broken.length > 0 ? { faults: broken } : { record };
    };
  };
}

/** Files come from the operator, so only depth is limited, which the parser needs. */
const LINE_BOUNDS: JsonBounds = { ...BODY_BOUNDS, containers: Infinity, names: Infinity, wideMembers: Infinity };

const UNREADABLE = {
  encoding: { pointer: '', code: 'encoding', detail: 'is not valid UTF-8' },
  length: { pointer: '', code: 'length', detail: 'is longer than 16 MiB' },
} as const satisfies Record<string, Fault>;

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
