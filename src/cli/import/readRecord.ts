import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { Fault } from '../../errors';
import { brokenTexts, replaceNegativeZero } from '../../stored/brokenTexts';
import { BODY_BOUNDS, type JsonBounds, structureFault } from '../../http/json';
import type { ImportRecord, RecordKind } from '../../stored/records';
import { publishedSchemas } from '../../published';
import { SCHEMA_ROOT } from '../../schema/jsonSchema';
import { checkWith, createAjv, requireSchema } from '../../schema/validation';
import { recordName, recordSchemas, resolveSchema, respellNames } from '../records/schemas';

/* Files of records: their lines, and the record of each. */

/** A non-blank line of a file. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Byte offset of the next line. */
  readonly end: number;
  /** The text, or why it cannot be read. */
  readonly content: { readonly text: string } | { readonly fault: 'encoding' | 'length' };
}

/** MongoDB's document limit, so no valid record is longer. Bounds memory. */
const LONGEST_LINE = 16 * 1024 * 1024;
const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = '\ufeff';

/** Reads a file line by line, in constant memory. Accepts a BOM and CRLF; skips blank lines. */
export async function* ndjsonLines(path: string): AsyncGenerator<Line> {
  let [number, offset, pending, size] = [0, 0, [] as Buffer[], 0];
  const finish = (last: Buffer, newline: 0 | 1): Line | undefined => {
    size += last.length;
    pending.push(last);
    const content = size > LONGEST_LINE ? ({ fault: 'length' } as const) : decode(Buffer.concat(pending), number === 0);
    number += 1;
    offset += size + newline;
    [pending, size] = [[], 0];
    return 'text' in content && content.text === '' ? undefined : { number, end: offset, content };
  };
  for await (const chunk of createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = finish(chunk.subarray(start, end), 1);
      if (line) yield line;
      start = end + 1;
    }
    const rest = chunk.subarray(start);
    size += rest.length;
    // a line that is too long is counted but not kept
    if (size <= LONGEST_LINE) pending.push(rest);
    else pending = [];
  }
  const line = size > 0 ? finish(Buffer.alloc(0), 0) : undefined;
  if (line) yield line;
}

function decode(bytes: Buffer, isFirst: boolean): Line['content'] {
  if (!isUtf8(bytes)) return { fault: 'encoding' };
  const text = bytes.toString('utf8');
  return { text: (isFirst && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text).trim() };
}

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
