import type { Projection } from '../mongo/collection';
import { AppError, type Fault, shorten } from '../errors';
import { NUMBERS } from '../fastReads/rowWriter';
import type { DataContext } from '../operations/context';
import { ATTACHMENTS } from '../schema/attachmentNames';
import { indexOfRepeatedKey, METADATA, metadataPairs } from '../schema/metadata';
import { published } from '../schema/model';
import { DAY } from '../schema/scalars';
import { objectName, type StoredMember, type StoredType } from '../schema/storedTypes';
import { EARLIEST, idText, LATEST, STORED_ID } from '../units';

/*
 * Rows that cannot be served, since another program stored what their type does not allow (docs/decisions/invalid-rows.md). Such a row must
 * not fail the page, relation or total that it belongs to.
 */

/** Finds the first member of a row that keeps it from being served; undefined if there is none. */
export type FindFault = (row: object) => Fault | undefined;

/** Anything with a stored type. */
export interface Checked {
  readonly name: string;
  readonly stored: StoredType;
  /** Checks rows that were read with a projection: the members that it reads. */
  readonly faultIn: (projection: Projection) => FindFault;
}

const MISSING = 'is missing';

type Row = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => Fault | undefined;

/** Returns what checks rows of a type, by the projection they were read with; rows are checked fast if that is the same object each time. */
export function faultsOf({ members }: Pick<StoredType, 'members'>): Checked['faultIn'] {
  const cache = new WeakMap<Projection, FindFault>();
  return (projection) => {
    let findFault = cache.get(projection);
    if (!findFault) cache.set(projection, (findFault = findIn(members, readBy(projection), '')));
    return findFault;
  };
}

/** Whether a projection reads a member, by its path. */
function readBy(projection: Projection): (path: string) => boolean {
  const names = Object.entries(projection);
  const included = names.flatMap(([name, value]) => (value === 1 ? [name] : []));
  if (included.length === 0) return (path) => projection[path] !== 0;
  return (path) => included.some((name) => name === path || name.startsWith(`${path}.`) || path.startsWith(`${name}.`));
}

/** Checks records of a file, whose ids are `id`. */
export function faultInRecord({ members }: Pick<StoredType, 'members'>): FindFault {
  return findIn(members, () => true, '', true);
}

/** `prefix` is the path of the object in its row, with a dot at its end. A whole row has its own id as `_id`, a record of a file as `id`. */
function findIn(
  members: readonly StoredMember[],
  isRead: (path: string) => boolean,
  prefix: string,
  isRecord = false,
): FindFault {
  const checks = members.flatMap((member): [string, string, Check][] => {
    const path = prefix + member.name;
    const isOwnId = path === 'id';
    if (!isOwnId && !isRead(path)) return [];
    const check = checkOf(member, isRead, path);
    const storedName = isOwnId && !isRecord ? '_id' : member.name;
    return [[storedName, member.name, path === METADATA ? metadataCheck(check, isRead, isRecord) : check]];
  });
  return (row) => {
    for (const [storedName, name, check] of checks) {
      const fault = check((row as Row)[storedName]);
      if (fault) return within(name, fault);
    }
    return undefined;
  };
}

/** Checks metadata: no key twice in the pairs of a row, and in the records of files an object (readRecords). */
function metadataCheck(check: Check, isRead: (path: string) => boolean, isRecord: boolean): Check {
  return (value) => {
    if (isRecord && !Array.isArray(value)) {
      const isObject = value === undefined || typeof value === 'object';
      return isObject ? check(metadataPairs(value)) : wrong('type', value, 'an object');
    }
    const fault = isRecord ? undefined : check(value);
    if (fault || !Array.isArray(value) || !isRead(`${METADATA}.key`)) return fault;
    const pairs = value as readonly { readonly key: unknown }[];
    const at = indexOfRepeatedKey(pairs);
    if (at !== -1) return within(at, within('key', wrong('duplicate', pairs[at]?.key, 'another key')));
    return isRecord ? wrong('type', value, 'an object') : undefined;
  };
}

function within(name: string | number, fault: Fault): Fault {
  return { ...fault, pointer: `/${String(name)}${fault.pointer ?? ''}` };
}

function checkOf(member: StoredMember, isRead: (path: string) => boolean, path: string): Check {
  const { isRequired, isList } = member;
  const checkValue = valueCheck(member, isRead, path);
  const check = isList ? listCheck(checkValue) : checkValue;
  return (value) => {
    if (value !== undefined && value !== null) return check(value);
    return isRequired ? { code: 'required', detail: value === null ? 'is stored as null' : MISSING } : undefined;
  };
}

function listCheck(check: Check): Check {
  return (list) => {
    if (!Array.isArray(list)) return wrong('type', list, 'a list');
    for (let index = 0; index < list.length; index += 1) {
      const value: unknown = list[index];
      const fault = value === undefined || value === null ? wrong('required', value, 'a value') : check(value);
      if (fault) return within(index, fault);
    }
    return undefined;
  };
}

interface NumberType {
  readonly fits: (value: number) => boolean;
  readonly range: readonly [number, number];
  readonly isWhole: boolean;
  /** Its description in messages. */
  readonly words: string;
}

const NUMBER_TYPES: Readonly<Record<string, NumberType>> = {
  Minor: {
    fits: NUMBERS.minor,
    range: [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
    isWhole: true,
    words: 'an integer from -(2^53-1) to 2^53-1',
  },
  Int: { fits: NUMBERS.int, range: [-(2 ** 31), 2 ** 31 - 1], isWhole: true, words: 'an integer of 32 bits' },
  Float: {
    fits: NUMBERS.float,
    range: [-Number.MAX_VALUE, Number.MAX_VALUE],
    isWhole: false,
    words: 'a finite number',
  },
};

/** What a scalar of numbers allows: these are all that members of stored types may have. */
export function numberType(scalar: string): NumberType {
  const type = NUMBER_TYPES[scalar];
  if (!type) throw new Error(`${scalar} is no scalar of numbers`);
  return type;
}

/** The members that must be a {@link STORED_ID}: objects are found by the first, and files by the second, which also names the file in an export. */
const STORED_ID_PATHS: ReadonlySet<string> = new Set(['id', `${ATTACHMENTS}.id`]);

/** Checks a value that is neither null nor missing. */
function valueCheck(member: StoredMember, isRead: (path: string) => boolean, path: string): Check {
  const { kind, type, members } = member;
  if (kind === 'object') {
    const findFault = findIn(members, isRead, `${path}.`);
    return (value) => (isEmbedded(value) ? findFault(value) : wrong('type', value, 'an object'));
  }
  if (kind === 'number') {
    const { fits, words } = numberType(type);
    return (value) => (typeof value === 'number' && fits(value) ? undefined : wrong('range', value, words));
  }
  if (kind === 'boolean')
    return (value) =>
      isPlainValue(value) && typeof value !== 'string' ? undefined : wrong('type', value, 'a boolean');
  if (kind === 'dateTime')
    return (value) =>
      value instanceof Date && value.getTime() >= EARLIEST && value.getTime() <= LATEST
        ? undefined
        : wrong('type', value, 'a date in the years 0001 to 9999');
  const text = textCheck(member, STORED_ID_PATHS.has(path));
  const isText = (value: unknown): boolean => typeof value === 'string' || (type === 'String' && isPlainValue(value));
  return (value) => (isText(value) ? text(String(value)) : wrong('type', value, 'a string'));
}

function textCheck({ type, values, pattern }: StoredMember, isStoredId: boolean): (text: string) => Fault | undefined {
  if (values) {
    const words = `one of ${values.join(', ')}`;
    return (text) => (values.includes(text) ? undefined : wrong('not_allowed', text, words));
  }
  if (pattern)
    return (text) => (pattern.test(text) ? undefined : wrong('format', text, `a text of the form ${pattern.source}`));
  if (isStoredId) return (text) => (STORED_ID.test(text) ? undefined : wrong('format', text, 'a UUID in lower case'));
  if (type === 'Date') return (text) => (DAY.test(text) ? undefined : wrong('format', text, 'a day, as in 2026-01-31'));
  return () => undefined;
}

/** Whether a value is an embedded document. */
export function isEmbedded(value: unknown): value is object {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !('_bsontype' in value) &&
    !(value instanceof Date)
  );
}

/** Whether GraphQL answers a value as a String; as a Boolean too, unless it is a text. */
function isPlainValue(value: unknown): boolean {
  return (
    typeof value === 'string' || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))
  );
}

function wrong(code: Fault['code'], value: unknown, words: string): Fault {
  return { code, detail: `is stored as ${shown(value)}, which is not ${words}` };
}

/** The value if it is short: a number, a text or of a BSON type; otherwise its JavaScript type. */
function shown(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string') return JSON.stringify(shorten(value));
  if (value instanceof Date) return 'a date';
  if (Array.isArray(value)) return 'a list';
  if (typeof value !== 'object' || value === null) return value === null ? 'null' : `a ${typeof value}`;
  const { _bsontype: type } = value as { readonly _bsontype?: unknown };
  return typeof type === 'string' ? `${type} ${shorten(idText(value))}` : 'an object';
}

/** Whether a row can be served. One that cannot is noted: it is left out of the answer. */
export function isServed(
  { noteInvalid }: Pick<DataContext, 'noteInvalid'>,
  { name, faultIn }: Checked,
  row: { readonly _id: unknown },
  projection: Projection,
): boolean {
  const fault = faultIn(projection)(row);
  if (fault) noteInvalid?.({ collection: name, id: shorten(idText(row._id)), fault }, 'omitted');
  return !fault;
}

/** How the row came to be so, for callers: one that lacks a member may be from before the member was added. */
const causeOf = ({ detail }: Fault): string =>
  detail === MISSING ? 'It was stored before that was added, or by another program' : 'Another program stored it';

/** A caller's scopes. */
export interface Reader {
  readonly scopes: DataContext['principal']['scopes'];
}

/** Whether a key may read a resource's objects. One that may only write learns no stored value, not even from an error (contract, section 3). */
export function mayRead({ scopes }: Reader, { stored }: Pick<Checked, 'stored'>): boolean {
  const scope = published.readScopeOf(stored.type);
  return scope !== undefined && scopes.has(scope);
}

/** @throws AppError stored_object_invalid that names the object and the member, unless the row can be served */
export function requireServed(
  { noteInvalid, principal }: Pick<DataContext, 'noteInvalid'> & { readonly principal: Reader },
  resource: Checked,
  row: { readonly _id: string },
  projection: Projection,
): void {
  const found = resource.faultIn(projection)(row);
  if (!found) return;
  noteInvalid?.({ collection: resource.name, id: row._id, fault: found }, 'refused');
  // a value that is missing gives nothing away
  const isTold = found.code === 'required' || mayRead(principal, resource);
  const fault = isTold ? found : { ...found, detail: 'is stored in another form than its type has' };
  const detail = `The ${objectName(resource.stored.type).replaceAll('_', ' ')} ${row._id} cannot be shown: ${String(fault.pointer)} ${fault.detail}. ${causeOf(fault)}; whoever runs the gateway has to correct it.`;
  throw new AppError('stored_object_invalid', detail, { errors: [fault] });
}
