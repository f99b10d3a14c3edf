import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  isObjectType,
  OperationTypeNode,
} from 'graphql';
import type { CallContext } from './context';
import { AppError, findAppError } from '../errors';
import { MEBIBYTE, MAX_ANSWER } from '../units';
import { objectFields } from '../schema/jsonSchema';
import { isAttachmentsType } from '../schema/attachmentNames';
import { isMetadataType } from '../schema/metadata';
import { fieldsIn } from './selection';

/*
 * Limits the size of responses, and writes them. The rows of lists are limited before a query runs (graphql/queryCost.ts), but lists inside
 * rows, such as a quote's lines, have no limit of their own, and strings can be long, so both are counted while the response is built.
 */

/** Maximum objects in all lists of a response: 2,000 rows (20 pages of 100) with 49 lines each. 100,000 take about 200 MB. */
export const MAX_OBJECTS = 100_000;
/** A response's size is reported to admission/bodyMemory.ts each time it has grown by this many bytes. */
const STEP = 256 * 1024;
/** Strings up to this length count one byte per character: most are ASCII. */
const SHORT = 100;

/** What the lists of a response contain so far. */
interface Tally {
  objects: number;
  /** Lower bound of the size of their JSON. */
  bytes: number;
  /** The part of `bytes` already reported. */
  reported: number;
  refusal: AppError | undefined;
}

/** By the context of a request. */
const tallies = new WeakMap<object, Tally>();

/** Makes every list of objects in a schema count its objects and their size per query, and fail over the limits. */
export function countListedObjects(schema: GraphQLSchema): void {
  for (const { field } of objectFields(schema)) {
    const isListOfObjects = isListType(getNullableType(field.type)) && isObjectType(getNamedType(field.type));
    // a field that has a resolver keeps it: it returns a page, whose `data` is counted
    if (isMetadataType(field.type)) field.resolve ??= isListOfObjects ? countedOrNone : memberOrNone;
    else if (isAttachmentsType(field.type)) field.resolve ??= countedOrNone;
    else if (isListOfObjects) field.resolve ??= countedMember;
  }
}

/** The error to answer with instead of a response that is over a limit, or whose caller is gone; undefined for any other. */
export function answerRefusal(context: object): AppError | undefined {
  return tallies.get(context)?.refusal;
}

/** By context: what {@link rowHolder} has returned for it. */
const holders = new WeakMap<object, NonNullable<CallContext['holdRows']>>();

/**
 * Counts the memory of rows that a query keeps, in bytes; the same function for all of its rows. It throws if that is too much or the caller
 * disconnected, and then the whole response is refused: without the rows of one list, the others would be of no use.
 */
export function rowHolder(context: Pick<CallContext, 'holdRows' | 'isGone'>): CallContext['holdRows'] {
  const { holdRows, isGone } = context;
  if (!holdRows) return undefined;
  let holder = holders.get(context);
  if (!holder) {
    holder = (bytes) => {
      try {
        if (isGone?.()) throw new AppError('unavailable', 'The caller disconnected.', { reason: 'unread' });
        holdRows(bytes);
      } catch (error) {
        tallyOf(context).refusal ??= findAppError(error);
        throw error;
      }
    };
    holders.set(context, holder);
  }
  return holder;
}

function tallyOf(context: object): Tally {
  let tally = tallies.get(context);
  if (!tally) tallies.set(context, (tally = { objects: 0, bytes: 0, reported: 0, refusal: undefined }));
  return tally;
}

/** The error to answer with in place of another if writes were done and only their answer was refused. */
export function afterWrites({ code, detail, extras }: AppError): AppError {
  const told = `${detail} Every change that has no error of its own was stored.`;
  // an `unavailable` has a reason, which stays; other codes use none, but AppError's type asks for one
  return new AppError(code, told, { reason: 'shed', ...extras });
}

/** @throws AppError invalid_request for too many bytes of JSON in a response */
export function requireFits(bytes: number): void {
  if (bytes > MAX_ANSWER) throw answerTooLarge();
}

function answerTooLarge(): AppError {
  const most = `${String(MAX_ANSWER / MEBIBYTE)} MiB`;
  return new AppError('invalid_request', `The response would be larger than ${most}. Request fewer objects or fields.`);
}

/** Whether a field resolves to the member of the same name. */
export function resolvesToMember(resolve: unknown): boolean {
  return resolve === undefined || resolve === countedMember || resolve === countedOrNone || resolve === memberOrNone;
}

/** A row's metadata or attachments; a row that lacks them has none. */
function memberOrNone(source: unknown, _args: unknown, _context: unknown, { fieldName }: GraphQLResolveInfo): unknown {
  return (source as Readonly<Record<string, unknown>>)[fieldName] ?? [];
}

function countedOrNone(source: unknown, args: unknown, context: CallContext, info: GraphQLResolveInfo): unknown {
  return countList(memberOrNone(source, args, context, info), context, info);
}

function countedMember(source: unknown, _args: unknown, context: CallContext, info: GraphQLResolveInfo): unknown {
  return countList((source as Readonly<Record<string, unknown>>)[info.fieldName], context, info);
}

function countList(list: unknown, context: CallContext, info: GraphQLResolveInfo): unknown {
  if (!Array.isArray(list)) return list;
  const tally = tallyOf(context);
  const count = (): unknown[] => {
    if (!tally.refusal) {
      tally.objects += list.length;
      tally.bytes += leastSize(list, info);
      // the answer to a write, which is done, is not refused because too much memory is in use
      const countAnswer = info.operation.operation === OperationTypeNode.QUERY ? context.countAnswer : undefined;
      tally.refusal = refusalOf(tally, countAnswer);
    }
    if (tally.refusal) throw tally.refusal;
    return list;
  };
  // waits by the number of objects, not by time, which on a busy machine would split the relations of a page into more reads
  return context.pauses.budget({ objects: list.length })?.then(count) ?? count();
}

function refusalOf(tally: Tally, countAnswer: CallContext['countAnswer']): AppError | undefined {
  if (tally.objects > MAX_OBJECTS) {
    const most = MAX_OBJECTS.toLocaleString('en');
    return new AppError(
      'invalid_request',
      `The response would contain more than ${most} objects, counting lines and other lists inside its rows. Request fewer rows, or omit those lists.`,
    );
  }
  if (tally.bytes > MAX_ANSWER) return answerTooLarge();
  if (tally.bytes - tally.reported < STEP) return undefined;
  tally.reported = tally.bytes;
  try {
    countAnswer?.(tally.bytes);
  } catch (error) {
    const appError = findAppError(error);
    if (!appError) throw error;
    return appError;
  }
  return undefined;
}

/** A scalar field of rows that resolves to a member of the row. */
interface Leaf {
  readonly name: string;
  /** Length of its name in JSON, with quotes, colon and comma. */
  readonly overhead: number;
}

/** By field nodes, of which graphql-js makes one array for each place in a document. */
const leavesOf = new WeakMap<readonly FieldNode[], readonly Leaf[]>();

/** Lower bound of the JSON of rows, in bytes: the rows' own strings, which make up most of it. */
function leastSize(rows: readonly unknown[], info: GraphQLResolveInfo): number {
  let leaves = leavesOf.get(info.fieldNodes);
  if (!leaves) leavesOf.set(info.fieldNodes, (leaves = findLeaves(info)));
  let size = 0;
  for (const row of rows as readonly Readonly<Record<string, unknown>>[]) {
    for (const { name, overhead } of leaves) {
      size += overhead;
      const value = row[name];
      if (typeof value === 'string') size += value.length <= SHORT ? value.length : Buffer.byteLength(value);
    }
  }
  return size;
}

function findLeaves({ fieldNodes, fragments, returnType }: GraphQLResolveInfo): Leaf[] {
  const fields = (getNamedType(returnType) as GraphQLObjectType).getFields();
  const leaves = new Map<string, Leaf>();
  // not those with a directive, which may be skipped: the size is a lower bound
  const selected = fieldsIn(
    fieldNodes,
    (name) => fragments[name],
    ({ directives }) => Boolean(directives?.length),
  );
  for (const { alias, name: node, selectionSet } of selected) {
    const name = node.value;
    const key = alias?.value ?? name;
    const isMember = !selectionSet && fields[name]?.resolve === undefined;
    if (isMember) leaves.set(key, { name, overhead: key.length + 4 });
  }
  return [...leaves.values()];
}

/** Characters to write before yielding to other work: under a millisecond. */
const PIECE = 256 * 1024;

/**
 * What JSON.stringify writes, as bytes: a string would have to be converted for sending, and one of 30 MB blocks the event loop for 0.3 s.
 * @throws AppError invalid_request if it is too large for an answer
 */
export async function answerText(value: unknown, context: Pick<CallContext, 'pauses'>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let [piece, size] = ['', 0];
  const end = (): void => {
    const bytes = Buffer.from(piece);
    piece = '';
    size += bytes.length;
    requireFits(size);
    chunks.push(bytes);
  };
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < PIECE) continue;
    end();
    await context.pauses.yieldToOthers();
  }
  end();
  const [first] = chunks;
  return first && chunks.length === 1 ? first : Buffer.concat(chunks, size);
}

/** The JSON of a value in pieces. An object without nested objects or lists is a single piece. */
function* partsOf(value: unknown): Generator<string, void> {
  if (!hasNestedObjects(value)) {
    // in a list, undefined is null
    yield value === undefined ? 'null' : JSON.stringify(value);
    return;
  }
  const isList = Array.isArray(value);
  let before = isList ? '[' : '{';
  for (const [name, member] of isList ? value.entries() : Object.entries(value)) {
    if (member === undefined && !isList) continue;
    yield isList ? before : `${before}${JSON.stringify(name)}:`;
    yield* partsOf(member);
    before = ',';
  }
  yield isList ? ']' : '}';
}

function hasNestedObjects(value: unknown): value is Readonly<Record<string, unknown>> | readonly unknown[] {
  if (!isContainer(value)) return false;
  for (const name in value) if (isContainer((value as Readonly<Record<string, unknown>>)[name])) return true;
  return false;
}

/** Whether a value is an object or non-empty list, whose JSON is made up of the JSON of its members. */
function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  // a method, as of dates: a caller may have given a member this name, as its alias
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === 'function') return false;
  return !Array.isArray(value) || value.length > 0;
}
