import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { OPERATOR } from '../auth/roles';
import { AppError, type Fault, invalidRequest } from '../errors';
import { checkBodyHeaders, checkInTurns } from '../http/body';
import { type Exchange, createIncomingRequest, noteElements, noteUnavailable } from '../http/exchange';
import { drained, isClosed } from '../http/drain';
import { NDJSON, NDJSON_LIMITS, type NdjsonLine, ndjsonPieces } from '../http/ndjson';
import { toAppError } from '../mongo/toAppError';
import type { CallContext, OpenContext } from '../operations/context';
import { type Pace, paceOf } from '../async/yield';
import { createSemaphore } from '../async/semaphore';
import { MEBIBYTE, UUID, isOrganisationRef } from '../units';
import type { WriteResult } from '../writes';
import type { OperatorContext } from './context';
import type { Operator } from './operator';

/* Writes to many organisations, line by line (docs/decisions/operator-writes.md). */

export const WRITE_LINES = 'write_lines';

/** Organisations that are written at once, out of a piece: the lines that arrived together (ndjson.ts). */
const ORGANISATIONS_AT_ONCE = 4;
/** How long lines are read, in milliseconds: the whole body must arrive within 30 s. */
const READ_FOR = 25_000;
/** Bytes of results that wait for the reader before no more lines are read. A caller may read only once it has sent everything. */
const MAX_UNREAD = 4 * MEBIBYTE;
/** Lines that cost a point; each hundred begun costs one. */
const LINES_PER_POINT = 100;

type Result = Omit<WriteResult, 'index'>;

/** What a line writes to an organisation, and which line of the piece it is. */
interface PlacedElement {
  readonly lineIndex: number;
  readonly element: unknown;
}

/** The lines of a piece that are for one organisation. */
interface Group {
  readonly organisation: Parameters<Operator['lines']['write']>[0];
  readonly lines: PlacedElement[];
}

interface WriteLinesOptions {
  readonly openContext: OpenContext<OperatorContext>;
  readonly isDraining: () => boolean;
  /** Told of an error that fails only the lines of an organisation. */
  readonly onError: (ids: Readonly<Record<string, string>>, error: unknown) => void;
}

/** Returns a function that answers a request to write lines. */
export function createWriteLines({
  openContext,
  isDraining,
  onError,
}: WriteLinesOptions): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    const { request, response } = exchange;
    if (request.method !== 'POST')
      throw new AppError('method_not_allowed', `${String(request.method)} is not allowed here.`, { allow: ['POST'] });
    exchange.log.operation = WRITE_LINES;
    const context = await openContext(createIncomingRequest(exchange));
    context.authorise({ scope: undefined, role: OPERATOR });
    if (exchange.search !== '')
      throw invalidRequest([{ parameter: 'query', code: 'unknown', detail: 'this route has no parameters' }]);
    checkBodyHeaders(request, NDJSON_LIMITS.bytes, NDJSON);
    await exchange.queue.take(exchange, 'body');
    exchange.askForBody();
    const written: WrittenCounts = new Map();
    const { operator } = context;
    const note = async (): Promise<void> => {
      for (const [id, counts] of written) await operator.lines.note({ id }, counts);
    };
    try {
      try {
        await answerLines(exchange, { context, operator, exchange, written, onError }, isDraining);
      } finally {
        // before the answer ends, so that who has it finds them in the audit log
        await note();
      }
      if (!isClosed(response)) response.end();
    } catch (error) {
      if (!response.headersSent) throw error;
      const { code } = toAppError(error);
      exchange.log.code = code;
      if (code !== 'internal') response.end();
      // what was answered stays true, and this tells the caller that it is not all
      else response.destroy(error as Error);
      if (code === 'internal') throw error;
    }
  };
}

/** Reads, writes and answers lines, a piece at a time. Lines without an answer may have been stored; callers send them again. */
async function answerLines(
  exchange: Exchange,
  writing: Omit<PieceContext, 'pace' | 'refusal' | 'transactionSize'>,
  isDraining: () => boolean,
) {
  const { response } = exchange;
  const until = performance.now() + READ_FOR;
  // one for all pieces, since a single piece may be too short to yield the event loop
  const pace = paceOf(() => nextLoopTurn());
  const transactionSize = { most: Infinity };
  let [lines, points] = [0, 1];
  const beginAnswer = (): void => {
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': NDJSON, 'Cache-Control': 'no-store' });
  };
  for await (const piece of ndjsonPieces(exchange)) {
    if (piece.length > 0) {
      const more = Math.max(0, Math.ceil((lines + piece.length) / LINES_PER_POINT) - points);
      points += more;
      const refusal = await chargeFor(writing.context, more);
      const results = await writePiece(piece, { ...writing, pace, refusal, transactionSize });
      if (isClosed(response)) return;
      noteElements(exchange, results.filter(({ outcome }) => outcome === 'failed').length, results.length);
      beginAnswer();
      const first = lines;
      response.write(results.map((result, at) => `${JSON.stringify({ index: first + at, ...result })}\n`).join(''));
      lines += piece.length;
      if (response.writableLength > MAX_UNREAD) await drained(response);
    }
    if (isClosed(response) || isDraining() || performance.now() > until) break;
  }
  if (!isClosed(response)) beginAnswer();
}

const COUNTED = ['created', 'updated', 'deleted'] as const;
/** What was written, by organisation. */
type WrittenCounts = Map<string, Record<(typeof COUNTED)[number], number>>;

/** Takes points from the token's budget; resolves with the error, if there are not enough, that fails the lines. */
async function chargeFor(context: CallContext, points: number): Promise<AppError | undefined> {
  if (points <= 0) return undefined;
  try {
    await context.charge(points);
    return undefined;
  } catch (error) {
    return toAppError(error);
  }
}

interface PieceContext {
  readonly context: CallContext;
  readonly operator: Operator;
  readonly exchange: Exchange;
  readonly pace: Pace;
  /** The most elements of a transaction: fewer once the database has refused so many. */
  readonly transactionSize: { most: number };
  /** Why none of the lines is written. */
  readonly refusal: AppError | undefined;
  readonly written: WrittenCounts;
  readonly onError: WriteLinesOptions['onError'];
}

/**
 * Writes the lines of a piece, those of each organisation together, and resolves with the result of each line. An error fails only the lines
 * of its organisation. Stops between transactions if the caller has left; the results are then incomplete.
 */
async function writePiece(piece: readonly NdjsonLine[], writing: PieceContext): Promise<Result[]> {
  const { context, operator, exchange, pace, refusal, transactionSize, written, onError } = writing;
  const results: Result[] = [];
  const groups = new Map<string, PlacedElement[]>();
  for (const [lineIndex, line] of piece.entries()) {
    const wait = pace();
    if (wait) await wait;
    const read = refusal ? { fault: faultOf(refusal) } : await readLine(line);
    if ('fault' in read) {
      results[lineIndex] = failed(read.fault);
      continue;
    }
    const { organisation, element } = read;
    const group = groups.get(organisation);
    if (group) group.push({ lineIndex, element });
    else groups.set(organisation, [{ lineIndex, element }]);
  }
  const semaphore = createSemaphore(ORGANISATIONS_AT_ONCE);
  const organisations = await operator.lines.findAll([...groups.keys()]);
  const byId = new Map<string, Group>();
  for (const [name, lines] of groups) {
    const organisation = organisations.get(name);
    if (!organisation) {
      for (const { lineIndex } of lines) results[lineIndex] = failed(UNKNOWN);
      continue;
    }
    // it may be named in several ways
    const group = byId.get(organisation.id);
    if (group) group.lines.push(...lines);
    else byId.set(organisation.id, { organisation, lines });
  }
  const writeGroup = async (organisation: Group['organisation'], lines: readonly PlacedElement[]): Promise<void> => {
    for (let from = 0; from < lines.length;) {
      // nobody would know what became of them
      if (isClosed(exchange.response)) return;
      const part = lines.slice(from, from + transactionSize.most);
      try {
        const elements = part.map(({ element }) => element);
        const report = await operator.lines.write(organisation, elements, context);
        const { id } = organisation;
        const counts = written.get(id) ?? { created: 0, updated: 0, deleted: 0 };
        for (const name of COUNTED) counts[name] += report[name];
        written.set(id, counts);
        for (const [index, { lineIndex }] of part.entries()) {
          const { index: _index, ...result } = report.results[index] ?? { ...failed(UNKNOWN), index };
          results[lineIndex] = result;
        }
      } catch (error) {
        const appError = toAppError(error);
        if (appError.code === 'payload_too_large' && part.length > 1) {
          // who sends the lines again sends as many
          transactionSize.most = Math.ceil(part.length / 2);
          continue;
        }
        if (appError.code === 'internal')
          onError({ request_id: exchange.requestId, organisation_id: organisation.id, code: appError.code }, error);
        if (appError.code === 'unavailable') noteUnavailable(exchange, appError, error);
        for (const { lineIndex } of part) results[lineIndex] = failed(faultOf(appError));
      }
      from += part.length;
    }
  };
  const all = [...byId.values()].map(({ organisation, lines }) => {
    lines.sort((left, right) => left.lineIndex - right.lineIndex);
    return semaphore(() => writeGroup(organisation, lines));
  });
  await Promise.all(all);
  return results;
}

/** Parses a line; resolves with its fault, or the name of its organisation and the rest as an element. */
async function readLine(
  line: NdjsonLine,
): Promise<{ readonly organisation: string; readonly element: unknown } | { readonly fault: Fault }> {
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
  if (typeof organisation !== 'string')
    return {
      fault: { pointer: '/organisation', code: 'required', detail: 'must be an id, or `ref:` and an external_ref' },
    };
  if (!isOrganisationRef(organisation) && !UUID.test(organisation))
    return {
      fault: { pointer: '/organisation', code: 'format', detail: 'must be an id, or `ref:` and an external_ref' },
    };
  return { organisation, element };
}

const UNKNOWN: Fault = { pointer: '/organisation', code: 'not_found', detail: 'is not the name of an organisation' };

const UNREADABLE = {
  encoding: { pointer: '', code: 'encoding', detail: 'is not valid UTF-8' },
  length: { pointer: '', code: 'length', detail: `is longer than ${String(NDJSON_LIMITS.line / MEBIBYTE)} MiB` },
  limit: {
    pointer: '',
    code: 'size',
    detail: `a body has at most ${NDJSON_LIMITS.lines.toLocaleString('en')} lines and ${String(NDJSON_LIMITS.bytes / MEBIBYTE)} MiB; this line and those after it were not read`,
  },
} as const satisfies Record<string, Fault>;

/** The fault of each line that an error keeps from being stored. */
function faultOf({ code, detail }: AppError): Fault {
  const codes = {
    conflict: 'conflict',
    payload_too_large: 'size',
    quota_exceeded: 'quota',
    rate_limited: 'rate_limited',
  } as const;
  const knownCode = code in codes ? codes[code as keyof typeof codes] : 'unavailable';
  return { pointer: '', code: knownCode, detail };
}

function failed(fault: Fault): Result {
  return { type: null, id: null, external_ref: null, outcome: 'failed', errors: [fault] };
}
