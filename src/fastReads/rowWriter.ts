import {
  BSON,
  checkFlag,
  endOfKey,
  endOfValue,
  forEachObject,
  int32,
  int64,
  refuseReference,
  skipObject,
  skipValue,
  UnsupportedValue,
} from '../mongo/bson';
import type { JsonOutput } from './jsonOutput';
import { metadataWriter, placesOfPairs } from './metadataWriter';
import { afterName, dateWriter, enumWriter, idWriter, stringWriter, type Write } from './textWriters';

/*
 * Writes objects from their bytes in BSON: the length of the object (4 bytes), then for each member its type (a byte), its name, a zero and its value,
 * and a zero at the end. A text as a value has its length (4 bytes) before it and a zero after. Whatever only resolvers can answer throws
 * UnsupportedValue, and what was written is thrown away.
 */

/** A member of an object in an answer. */
export interface WantedMember {
  /** Its name in the answer. */
  readonly key: string;
  /** Its source: a constant (`__typename`), or a member by its name in the database. */
  readonly from: { readonly constant: string } | { readonly member: string; readonly value: Value };
}

export interface Value {
  readonly kind:
    | 'id'
    | 'string'
    | 'enum'
    | 'date'
    | 'dateTime'
    | 'minor'
    | 'int'
    | 'float'
    | 'boolean'
    | 'object'
    | 'objects'
    | 'metadata';
  /** Whether it must be present and not null; a row without it is not written, and left to the resolvers. */
  readonly isRequired: boolean;
  /** What is written if the row lacks the member; null by default. Rows from before there were metadata and attachments lack them. */
  readonly absent?: '{}' | '[]';
  /** The pattern of kind `string`, and of the keys of metadata. */
  readonly pattern?: RegExp | undefined;
  /** The values of kind `enum`. */
  readonly values?: readonly string[];
  /** The objects of kind `object` and `objects`. */
  readonly shape?: Shape;
}

/** The members of an object that are written. */
export interface Shape {
  readonly wanted: readonly WantedMember[];
  /** Other members that the object is known to have, so that they are skipped quickly. */
  readonly others: readonly string[];
}

type ObjectWriter = ReturnType<typeof createObjectWriter>;

/** A member as written: its name in JSON with what precedes it, and its value unless that is constant. */
interface Part {
  readonly name: Uint8Array;
  readonly member?: {
    readonly slot: number;
    readonly isRequired: boolean;
    readonly absent: Uint8Array;
    readonly write: Write;
  };
}

/** Maximum objects in lists within the rows of an answer; beyond that, resolvers answer, which yield in between. */
const MAX_LISTED = 10_000;
const MAX_INT = 2 ** 31 - 1;
const MIN_INT = -(2 ** 31);
const OPEN = Buffer.from('[');
const CLOSE = Buffer.from(']');
const COMMA = Buffer.from(',');
const END = Buffer.from('}');

/** The state that the writers of an answer share. */
export interface Writing {
  bytes: Buffer;
  /** Objects in lists so far. */
  listed: number;
}

const NOTHING = Buffer.alloc(0);

export function createWriting(): Writing {
  return { bytes: NOTHING, listed: 0 };
}

/** Runs work on bytes, then releases them: writers live on, and would keep the whole reply in memory. */
export function withBytes<T>(writing: Writing, bytes: Buffer, work: () => T): T {
  writing.bytes = bytes;
  writing.listed = 0;
  try {
    return work();
  } finally {
    writing.bytes = NOTHING;
  }
}

export function createObjectWriter(shape: Shape, out: JsonOutput, writing: Writing) {
  const members = [
    ...new Set([...shape.wanted.flatMap(({ from }) => ('member' in from ? from.member : [])), ...shape.others]),
  ];
  const wantedMembers = new Set(shape.wanted.flatMap(({ from }) => ('member' in from ? from.member : [])));
  const names = members.map((name) => Buffer.from(`${name}\0`));
  const isWanted = members.map((name) => wantedMembers.has(name));
  // a slot is the index of a member in these lists
  const slots = new Map(members.map((name, slot) => [name, slot]));
  /** By slot: where the value starts. */
  const places = new Int32Array(members.length);
  /** By slot: where it ends. */
  const ends = new Int32Array(members.length);
  /** By slot: its type; 0 if the object lacks it. */
  const types = new Uint8Array(members.length);
  /** A guess from earlier rows, since those of a collection are similar: at 0 the slot that comes first, at slot + 1 the one that comes after it. */
  const after = Int32Array.from({ length: members.length + 1 }, (_, slot) => slot % Math.max(1, members.length));

  const parts = shape.wanted.map(({ key, from }, index): Part => {
    const start = `${index === 0 ? '{' : ','}${JSON.stringify(key)}:`;
    if ('constant' in from) return { name: Buffer.from(start + JSON.stringify(from.constant)) };
    const { isRequired, absent: none = 'null' } = from.value;
    const absent = Buffer.from(none);
    const write = valueWriter(from.value, out, writing);
    return { name: Buffer.from(start), member: { slot: slots.get(from.member) ?? 0, isRequired, absent, write } };
  });

  /** Finds the members of an object. */
  function locate(start: number, end: number): void {
    const { bytes } = writing;
    types.fill(0);
    let at = start + 4;
    let last = 0;
    for (;;) {
      const type = bytes[at++] ?? 0;
      if (type === 0) break;
      let slot = after[last] ?? 0;
      // where the value is, or 0 if the guess was wrong
      let value = afterName(bytes, at, names[slot]);
      if (value === 0) {
        const to = endOfKey(bytes, at, end);
        value = to + 1;
        const knownSlot = slots.get(bytes.toString('latin1', at, to));
        if (knownSlot === undefined) {
          refuseReference(bytes, at);
          at = skipValue(bytes, type, value, end);
          continue;
        }
        slot = knownSlot;
        after[last] = slot;
      }
      // a second member of that name, of which the driver would take the last
      if (types[slot] !== 0) throw new UnsupportedValue('document');
      at = isWanted[slot] ? endOfValue(bytes, type, value, end) : skipValue(bytes, type, value, end);
      types[slot] = type;
      places[slot] = value;
      ends[slot] = at;
      last = slot + 1;
    }
    if (at !== end) throw new UnsupportedValue('document');
  }

  return {
    /** Writes the object between two places. @throws UnsupportedValue */
    write(start: number, end: number): void {
      locate(start, end);
      for (const { name, member } of parts) {
        out.put(name);
        if (!member) continue;
        const { slot, isRequired, absent, write } = member;
        const type = types[slot] ?? 0;
        if (type !== 0 && type !== BSON.null) write(places[slot] ?? 0, type, ends[slot] ?? 0);
        else if (isRequired) throw new UnsupportedValue('missing');
        else out.put(absent);
      }
      out.put(END);
    },
    /** Checks that the driver could decode an object that is not written. @throws UnsupportedValue */
    check(start: number, end: number): void {
      skipObject(writing.bytes, start, end);
    },
    /** Reads a string, time, Boolean or number in the object between two places, by its name in the database. @throws UnsupportedValue if it is another */
    read(start: number, end: number, member: string): string | Date | boolean | number {
      locate(start, end);
      const slot = slots.get(member) ?? -1;
      const type = types[slot];
      const at = places[slot] ?? 0;
      if (type === BSON.time) return new Date(int64(writing.bytes, at));
      if (type === BSON.text) return writing.bytes.toString('utf8', at + 4, (ends[slot] ?? 0) - 1);
      if (type === BSON.flag) return writing.bytes[at] === 1;
      const number = numberAt(writing.bytes, at, type ?? 0);
      if (!Number.isFinite(number)) throw new UnsupportedValue('number');
      return number;
    },
  };
}

function formOf({ pattern }: Value): RegExp {
  if (!pattern) throw new Error('metadata without the form of its keys');
  return pattern;
}

/** Writes values other than null. */
function valueWriter(value: Value, out: JsonOutput, writing: Writing): Write {
  const { kind } = value;
  if (kind === 'id') return idWriter(out, writing);
  if (kind === 'string') return stringWriter(out, writing, value.pattern);
  if (kind === 'enum') return enumWriter(value.values ?? [], out, writing);
  if (kind === 'date') return dateWriter(out, writing);
  if (kind === 'object' || kind === 'objects') {
    if (!value.shape) throw new Error('objects without a shape');
    const inner = createObjectWriter(value.shape, out, writing);
    const writeList = writerOfObjects(inner, out, writing);
    // metadata as the list of pairs that GraphQL has
    if (value.pattern !== undefined)
      return (at, type, end) => {
        placesOfPairs(writing.bytes, formOf(value), [at, type, end]);
        writeList(at, type, end);
      };
    return kind === 'object' ? writerOfObject(inner) : writeList;
  }
  if (kind === 'metadata') return metadataWriter(out, writing, formOf(value));
  if (kind === 'boolean')
    return (at, type) => {
      if (type !== BSON.flag) throw new UnsupportedValue('type');
      checkFlag(writing.bytes, at);
      out.boolean(writing.bytes[at] === 1);
    };
  if (kind === 'dateTime')
    return (at, type) => {
      if (type !== BSON.time) throw new UnsupportedValue('type');
      out.dateTime(int64(writing.bytes, at));
    };
  const isNumber = NUMBERS[kind];
  return (at, type) => {
    const number = numberAt(writing.bytes, at, type);
    if (!isNumber(number)) throw new UnsupportedValue('number');
    out.number(number);
  };
}

/** Which numbers the scalars of the schema accept. */
export const NUMBERS = {
  minor: Number.isSafeInteger,
  int: (value: number) => Number.isInteger(value) && value >= MIN_INT && value <= MAX_INT,
  float: Number.isFinite,
};

function numberAt(bytes: Buffer, at: number, type: number): number {
  if (type === BSON.int) return int32(bytes, at);
  if (type === BSON.double) return bytes.readDoubleLE(at);
  if (type !== BSON.long) throw new UnsupportedValue('type');
  const number = int64(bytes, at);
  if (!Number.isSafeInteger(number)) throw new UnsupportedValue('number');
  return number;
}

function writerOfObject(inner: ObjectWriter): Write {
  return (at, type, end) => {
    if (type !== BSON.object) throw new UnsupportedValue('type');
    inner.write(at, end);
  };
}

function writerOfObjects(inner: ObjectWriter, out: JsonOutput, writing: Writing): Write {
  return (start, type, end) => {
    if (type !== BSON.array) throw new UnsupportedValue('type');
    out.put(OPEN);
    let isFirst = true;
    forEachObject(writing.bytes, start, end, (at, to) => {
      writing.listed += 1;
      if (writing.listed > MAX_LISTED) throw new UnsupportedValue('large');
      if (!isFirst) out.put(COMMA);
      isFirst = false;
      inner.write(at, to);
    });
    out.put(CLOSE);
  };
}
