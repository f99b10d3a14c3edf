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
import type { RequestContext } from './context';
import { AppError, findAppError } from '../errors';
import { MEBIBYTE, MOST_ANSWER } from '../units';
import { objectFields } from '../schema/jsonSchema';
import { fieldsIn } from './selection';

/*
 * Limits the size of a response, and writes it. The rows of lists are limited before a query runs (queryCost.ts), but lists inside rows,
 * such as a quote's lines, have no limit of their own, and texts may be long, so both can only be counted as they are returned.
 */

/** Maximum objects in all lists of a response: 2,000 rows (20 pages of 100) with 49 lines each. 100,000 take about 200 MB. */
export const MOST_OBJECTS = 100_000;
/** Bytes that a response may grow by before they are counted among those of all (http/bodyMemory.ts). */
const STEP = 256 * 1024;
/** Texts up to this length are counted by it: most are ASCII. */
const SHORT = 100;

/** What the lists of a response have so far. */
interface Given {
  objects: number;
  /** Least that their JSON has. */
  bytes: number;
  /** Those of them that were counted among those of all. */
  counted: number;
  refusal: AppError | undefined;
}

const given = new WeakMap<object, Given>();

/** Makes every list of objects in a schema count its objects and their size per query, and fail over the limits. */
export function countListedObjects(schema: GraphQLSchema): void {
  for (const { field } of objectFields(schema)) {
    const isListOfObjects = isListType(getNullableType(field.type)) && isObjectType(getNamedType(field.type));
    // fields with a resolver return a page, whose rows are counted
    if (isListOfObjects) field.resolve ??= giveCounted;
  }
}

/** The error for a response over a limit; undefined within them. */
export function tooLarge(context: object): AppError | undefined {
  return given.get(context)?.refusal;
}

/** @throws AppError invalid_request for too many bytes of JSON in a response */
export function requireFits(bytes: number): void {
  if (bytes > MOST_ANSWER) throw answerTooLarge();
}

function answerTooLarge(): AppError {
  const most = `${String(MOST_ANSWER / MEBIBYTE)} MiB`;
  return new AppError('invalid_request', `The response would be larger than ${most}. Request fewer objects or fields.`);
}

/** Whether a resolver gives the member of its own name. */
export function givesMember(resolve: unknown): boolean {
  return resolve === undefined || resolve === giveCounted;
}

function giveCounted(source: unknown, _args: unknown, context: RequestContext, info: GraphQLResolveInfo): unknown {
  const list = (source as Readonly<Record<string, unknown>>)[info.fieldName];
  // the response to a write is bounded by its body, and must not fail after the write
  if (!Array.isArray(list) || info.operation.operation !== OperationTypeNode.QUERY) return list;
  let sum = given.get(context);
  if (!sum) given.set(context, (sum = { objects: 0, bytes: 0, counted: 0, refusal: undefined }));
  sum.objects += list.length;
  sum.bytes += leastSize(list, info);
  sum.refusal ??= refusalOf(sum, context);
  if (sum.refusal) throw sum.refusal;
  return list;
}

function refusalOf(sum: Given, { keep }: RequestContext): AppError | undefined {
  if (sum.objects > MOST_OBJECTS) {
    const most = MOST_OBJECTS.toLocaleString('en');
    return new AppError(
      'invalid_request',
      `The response would contain more than ${most} objects, counting lines and other lists inside its rows. Request fewer rows, or omit those lists.`,
    );
  }
  if (sum.bytes > MOST_ANSWER) return answerTooLarge();
  if (sum.bytes - sum.counted < STEP) return undefined;
  sum.counted = sum.bytes;
  try {
    keep?.(sum.bytes);
  } catch (error) {
    const known = findAppError(error);
    if (!known) throw error;
    return known;
  }
  return undefined;
}

/** A field of rows whose value is a member of them. */
interface Leaf {
  readonly name: string;
  /** Its name in JSON, with quotes, colon and comma. */
  readonly overhead: number;
}

/** By place in a document: graphql-js and graphql-jit collect the nodes of one once. */
const leavesOf = new WeakMap<readonly FieldNode[], readonly Leaf[]>();

/** The least size of the JSON of rows, in bytes: of their own texts, which are most of it. */
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
  const found = new Map<string, Leaf>();
  // what has a directive may be left out
  const selected = fieldsIn(
    fieldNodes,
    (name) => fragments[name],
    ({ directives }) => Boolean(directives?.length),
  );
  for (const { alias, name: node, selectionSet } of selected) {
    const name = node.value;
    const key = alias?.value ?? name;
    const isMember = !selectionSet && fields[name]?.resolve === undefined;
    if (isMember) found.set(key, { name, overhead: key.length + 4 });
  }
  return [...found.values()];
}

/** Characters to write before others may have their turn: under a millisecond. */
const PIECE = 256 * 1024;

/**
 * The JSON of what a read found, the same that JSON.stringify writes, as bytes: a string of it would be converted again to be sent,
 * and one of 30 MB holds the event loop for 0.3 s.
 * @throws AppError invalid_request if it is too much for an answer
 */
export async function answerText(value: unknown, context: Pick<RequestContext, 'data'>): Promise<Buffer> {
  const written: Buffer[] = [];
  let [piece, size] = ['', 0];
  const end = (): void => {
    const bytes = Buffer.from(piece);
    piece = '';
    size += bytes.length;
    requireFits(size);
    written.push(bytes);
  };
  for (const part of partsOf(value)) {
    piece += part;
    if (piece.length < PIECE) continue;
    end();
    await context.data.giveWay();
  }
  end();
  const [first] = written;
  return first && written.length === 1 ? first : Buffer.concat(written, size);
}

/** Texts that make up the JSON of a value: that of an object without others in it is one. */
function* partsOf(value: unknown): Generator<string, void> {
  if (!holdsObjects(value)) {
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

function holdsObjects(value: unknown): value is Readonly<Record<string, unknown>> | readonly unknown[] {
  if (!isOpened(value)) return false;
  for (const name in value) if (isOpened((value as Readonly<Record<string, unknown>>)[name])) return true;
  return false;
}

/** Whether a value is an object or list whose JSON is that of its members. */
function isOpened(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !('toJSON' in value);
}
