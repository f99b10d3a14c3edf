import type { Pace } from '../async/yield';
import { createSemaphore } from '../async/semaphore';
import { type AppError, type ErrorCode, type Fault } from '../errors';
import { checkInTurns } from '../http/body';
import { isClosed } from '../http/drain';
import { type Exchange, noteUnavailable } from '../http/exchange';
import { NDJSON_LIMITS, type NdjsonLine } from '../http/ndjson';
import { toAppError } from '../mongo/toAppError';
import type { CallContext } from '../operations/context';
import { MEBIBYTE, UUID, isRef } from '../units';
import { namesOf, type WriteResult } from '../writes';
import type { Operator } from './operator';

/* The lines that arrived together, written by organisation (docs/decisions/operator-writes.md). */

/** Of the lines that an error has failed, how many the log names. */
const LINES_NAMED = 10;
/** Organisations that are written at once. */
const ORGANISATIONS_AT_ONCE = 4;

type Result = Omit<WriteResult, 'index'>;

/** What a line writes to an organisation, and which line of the piece it is. */
interface PlacedElement {
  readonly lineIndex: number;
  readonly element: unknown;
}

interface Group {
  readonly organisation: Parameters<Operator['lines']['write']>[0];
  readonly lines: PlacedElement[];
}

const COUNTED = ['created', 'updated', 'deleted'] as const;
/** What was written, by organisation. */
export type WrittenCounts = Map<string, Record<(typeof COUNTED)[number], number>>;

/** Where lines failed, for the log. */
interface FailedLines {
  readonly request_id: string;
  readonly organisation_id: string;
  readonly code: ErrorCode;
  /** How many. */
  readonly lines: number;
  /** What the first of them name, at most {@link LINES_NAMED}. */
  readonly objects: readonly Pick<Result, 'type' | 'external_ref'>[];
}

export interface PieceContext {
  readonly context: CallContext;
  readonly operator: Operator;
  readonly exchange: Exchange;
  readonly pace: Pace;
  /** If it is set, no line is written, and each fails with this error. */
  readonly refusal: AppError | undefined;
  /** The counts of all pieces of a request, to which those of this one are added. */
  readonly written: WrittenCounts;
  /** Called with an error that fails only the lines of an organisation. */
  readonly onError: (where: FailedLines, error: unknown) => void;
}

/**
 * Writes the lines of a piece, those of each organisation together, and resolves with the result of each line. An error fails only the lines
 * of its organisation. Stops between transactions if the caller has left; the results are then incomplete.
 */
export async function writePiece(piece: readonly NdjsonLine[], writing: PieceContext): Promise<Result[]> {
  const results: Result[] = [];
  const linesByName = await readLines(piece, writing, results);
  const groups = await groupsOf(linesByName, writing.operator, results);
  const semaphore = createSemaphore(ORGANISATIONS_AT_ONCE);
  await Promise.all(groups.map((group) => semaphore(() => writeGroup(group, writing, results))));
  return results;
}

/** The lines of a piece by the name of their organisation; those that cannot be written get their results. */
async function readLines(
  piece: readonly NdjsonLine[],
  { pace, refusal }: PieceContext,
  results: Result[],
): Promise<Map<string, PlacedElement[]>> {
  const linesByName = new Map<string, PlacedElement[]>();
  for (const [lineIndex, line] of piece.entries()) {
    const wait = pace();
    if (wait) await wait;
    const content = refusal ? { fault: faultOf(refusal) } : await readLine(line);
    if ('fault' in content) {
      results[lineIndex] = failed(content.fault, content.element);
      continue;
    }
    const { organisation, element } = content;
    const lines = linesByName.get(organisation);
    if (lines) lines.push({ lineIndex, element });
    else linesByName.set(organisation, [{ lineIndex, element }]);
  }
  return linesByName;
}

/** The lines of each organisation, which may be named in several ways; those of unknown ones get their results. */
async function groupsOf(
  linesByName: ReadonlyMap<string, PlacedElement[]>,
  operator: Operator,
  results: Result[],
): Promise<Group[]> {
  const organisations = await operator.lines.findAll([...linesByName.keys()]);
  const groups = new Map<string, Group>();
  for (const [name, lines] of linesByName) {
    const organisation = organisations.get(name);
    if (!organisation) {
      for (const { lineIndex, element } of lines) results[lineIndex] = failed(UNKNOWN, element);
      continue;
    }
    const group = groups.get(organisation.id);
    if (group) group.lines.push(...lines);
    else groups.set(organisation.id, { organisation, lines });
  }
  for (const { lines } of groups.values()) lines.sort((left, right) => left.lineIndex - right.lineIndex);
  return [...groups.values()];
}

/** Writes the lines of an organisation in transactions, and sets their results. */
async function writeGroup({ organisation, lines }: Group, writing: PieceContext, results: Result[]): Promise<void> {
  const { context, operator, exchange, written, onError } = writing;
  const { id } = organisation;
  let transactionSize = lines.length;
  for (let from = 0; from < lines.length;) {
    // the caller has left, and would not know what became of the rest
    if (isClosed(exchange.response)) return;
    const part = lines.slice(from, from + transactionSize);
    try {
      const elements = part.map(({ element }) => element);
      const report = await operator.lines.write(organisation, elements, context);
      const counts = written.get(id) ?? { created: 0, updated: 0, deleted: 0 };
      for (const name of COUNTED) counts[name] += report[name];
      written.set(id, counts);
      for (const { index, ...result } of report.results) {
        const line = part[index];
        if (line) results[line.lineIndex] = result;
      }
    } catch (error) {
      const appError = toAppError(error);
      if ((appError.code === 'payload_too_large' || appError.code === 'invalid_request') && part.length > 1) {
        // together they are too large for a transaction, or the rows that they name for memory: half as many are tried
        transactionSize = Math.ceil(part.length / 2);
        continue;
      }
      const { code } = appError;
      const { requestId } = exchange;
      if (code === 'internal') {
        const objects = part.slice(0, LINES_NAMED).map(({ element }) => namesOf(element));
        onError({ request_id: requestId, organisation_id: id, code, lines: part.length, objects }, error);
      }
      if (code === 'unavailable') noteUnavailable(exchange, appError, error);
      const fault = code === 'internal' ? internalFault(requestId) : faultOf(appError);
      for (const { lineIndex, element } of part) results[lineIndex] = failed(fault, element);
    }
    from += part.length;
  }
}

type ReadLine =
  | { readonly organisation: string; readonly element: unknown }
  /** Without an element if the line is no object. */
  | { readonly fault: Fault; readonly element?: unknown };

/** Parses a line; resolves with its fault, or the name of its organisation and the rest as an element. */
async function readLine(line: NdjsonLine): Promise<ReadLine> {
  if ('fault' in line) return { fault: UNREADABLE[line.fault] };
  const checked = await checkInTurns(line.text);
  if (checked.fault) return { fault: checked.fault };
  let value: unknown;
  try {
    value = JSON.parse(checked.text);
  } catch {
    return { fault: { pointer: '', code: 'json', detail: 'is not valid JSON' } };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { fault: { pointer: '', code: 'type', detail: 'must be an object' } };
  const { organisation, ...element } = value as Record<string, unknown>;
  const detail = 'must be an id, or `ref:` and an external_ref';
  const pointer = '/organisation';
  if (typeof organisation !== 'string')
    return { fault: { pointer, code: organisation == null ? 'required' : 'type', detail }, element };
  if (!isRef(organisation) && !UUID.test(organisation)) return { fault: { pointer, code: 'format', detail }, element };
  return { organisation, element };
}

const UNKNOWN: Fault = {
  pointer: '/organisation',
  code: 'not_found',
  detail:
    'is neither the id of an organisation nor `ref:` and its external_ref; create it first with POST /organisations',
};

const UNREADABLE = {
  encoding: { pointer: '', code: 'encoding', detail: 'is not valid UTF-8' },
  length: { pointer: '', code: 'length', detail: `is longer than ${String(NDJSON_LIMITS.line / MEBIBYTE)} MiB` },
  limit: {
    pointer: '',
    code: 'size',
    detail: `a body has at most ${NDJSON_LIMITS.lines.toLocaleString('en')} lines and ${String(NDJSON_LIMITS.bytes / MEBIBYTE)} MiB; this line and those after it were not read`,
  },
} as const satisfies Record<string, Fault>;

/** The code of a line's fault, by that of the error of its call. */
const CODES_OF_LINES: Partial<Record<ErrorCode, Fault['code']>> = {
  conflict: 'conflict',
  // a request keeps too many rows: those of one line can only be too many beside those of other organisations' lines
  invalid_request: 'unavailable',
  payload_too_large: 'size',
  quota_exceeded: 'quota',
  rate_limited: 'rate_limited',
  unavailable: 'unavailable',
};

/** The fault of each line that an error, other than `internal`, keeps from being stored. */
function faultOf({ code, detail }: AppError): Fault {
  // by default not `unavailable`, which would have the caller send the line again
  return { pointer: '', code: CODES_OF_LINES[code] ?? 'invalid', detail };
}

/** The fault of each line that an error of our own keeps from being stored. */
function internalFault(requestId: string): Fault {
  const detail = `something went wrong on our side, which is logged under the request id ${requestId}; send the line again later`;
  return { pointer: '', code: 'unavailable', detail };
}

/** The result of a line; without its element if that could not be read. */
function failed(fault: Fault, element?: unknown): Result {
  const { type, external_ref } = namesOf(element);
  return { type, id: null, external_ref, outcome: 'failed', errors: [fault] };
}
