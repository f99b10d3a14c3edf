import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { OPERATOR } from '../auth/roles';
import { AppError, type Fault, invalidRequest } from '../errors';
import { checkBodyHeaders, checkInTurns } from '../http/body';
import { type Exchange, createIncomingRequest, noteUnavailable } from '../http/exchange';
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

/** Organisations of a piece that are written at once. */
const AT_ONCE = 4;
/** How long lines are read, in milliseconds: the whole body must arrive within 30 s. */
const READ_FOR = 25_000;
/** Bytes of results that wait for the reader before no more lines are read. A caller may read only once it has sent everything. */
const MAX_UNREAD = 4 * MEBIBYTE;
/** Lines per point, begun. */
const LINES_PER_POINT = 100;

type Result = Omit<WriteResult, 'index'>;

/** A line for an organisation. */
interface Placed {
  readonly at: number;
  readonly element: unknown;
}

/** The lines of a piece that are for one organisation. */
interface Group {
  readonly organisation: Parameters<Operator['lines']['write']>[0];
  readonly lines: Placed[];
}

interface Options {
  readonly openContext: OpenContext<OperatorContext>;
  readonly isDraining: () => boolean;
  /** Told of an error that fails only the lines of an organisation. */
  readonly onError: (ids: Readonly<Record<string, string>>, error: unknown) => void;
}

export function createWriteLines({ openContext, isDraining, onError }: Options): (exchange: Exchange) => Promise<void> {
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
    const written: Written = new Map();
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
  writing: Omit<Writing, 'pace' | 'refusal' | 'size'>,
  isDraining: () => boolean,
) {
  const { response } = exchange;
  const until = performance.now() + READ_FOR;
  // one for all pieces, as each may be short of a slice
  const pace = paceOf(() => turn());
  const size = { most: Infinity };
  let [lines, points] = [0, 1];
  const begin = (): void => {
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': NDJSON, 'Cache-Control': 'no-store' });
  };
  for await (const piece of ndjsonPieces(exchange)) {
    if (piece.length > 0) {
      const more = Math.max(0, Math.ceil((lines + piece.length) / LINES_PER_POINT) - points);
      points += more;
      const refusal = await charged(writing.context, more);
      const results = await write(piece, { ...writing, pace, refusal, size });
      if (isClosed(response)) return;
      begin();
      const first = lines;
      response.write(results.map((result, at) => `${JSON.stringify({ index: first + at, ...result })}\n`).join(''));
      lines += piece.length;
      if (response.writableLength > MAX_UNREAD) await drained(response);
    }
    if (isClosed(response) || isDraining() || performance.now() > until) break;
  }
  if (!isClosed(response)) begin();
}

const COUNTED = ['created', 'updated', 'deleted'] as const;
/** What was written, by organisation. */
type Written = Map<string, Record<(typeof COUNTED)[number], number>>;

async function charged(context: CallContext, points: number): Promise<AppError | undefined> {
  if (points <= 0) return undefined;
  try {
    await context.charge(points);
    return undefined;
  } catch (error) {
    return toAppError(error);
  }
}

interface Writing {
  readonly context: CallContext;
  readonly operator: Operator;
  readonly exchange: Exchange;
  readonly pace: Pace;
  /** The most elements of a transaction: fewer once the database has refused so many. */
  readonly size: { most: number };
  /** Why none of the lines is written. */
  readonly refusal: AppError | undefined;
  readonly written: Written;
  readonly onError: Options['onError'];
}

/** Writes the lines of a piece, those of each organisation in one transaction. */
async function write(piece: readonly NdjsonLine[], writing: Writing): Promise<Result[]> {
  const { context, operator, exchange, pace, refusal, size, written, onError } = writing;
  const results: Result[] = [];
  const groups = new Map<string, Placed[]>();
  for (const [at, line] of piece.entries()) {
    const wait = pace();
    if (wait) await wait;
    const read = refusal ? { fault: faultOf(refusal) } : await readLine(line);
    if ('fault' in read) {
      results[at] = failed(read.fault);
      continue;
    }
    const { organisation, element } = read;
    const group = groups.get(organisation);
    if (group) group.push({ at, element });
    else groups.set(organisation, [{ at, element }]);
  }
  const semaphore = createSemaphore(AT_ONCE);
  const organisations = await operator.lines.findAll([...groups.keys()]);
  const byId = new Map<string, Group>();
  for (const [name, lines] of groups) {
    const organisation = organisations.get(name);
    if (!organisation) {
      for (const { at } of lines) results[at] = failed(UNKNOWN);
      continue;
    }
    // it may be named in several ways
    const group = byId.get(organisation.id);
    if (group) group.lines.push(...lines);
    else byId.set(organisation.id, { organisation, lines });
  }
  const settle = async (organisation: Group['organisation'], lines: readonly Placed[]): Promise<void> => {
    for (let from = 0; from < lines.length;) {
      // nobody would know what became of them
      if (isClosed(exchange.response)) return;
      const part = lines.slice(from, from + size.most);
      try {
        const elements = part.map(({ element }) => element);
        const report = await operator.lines.write(organisation, elements, context);
        const { id } = organisation;
        const counts = written.get(id) ?? { created: 0, updated: 0, deleted: 0 };
        for (const name of COUNTED) counts[name] += report[name];
        written.set(id, counts);
        for (const [index, { at }] of part.entries()) {
          const { index: _index, ...result } = report.results[index] ?? { ...failed(UNKNOWN), index };
          results[at] = result;
        }
      } catch (error) {
        const appError = toAppError(error);
        if (appError.code === 'payload_too_large' && part.length > 1) {
          // who sends the lines again sends as many
          size.most = Math.ceil(part.length / 2);
          continue;
        }
        if (appError.code === 'internal')
          onError({ request_id: exchange.requestId, organisation_id: organisation.id, code: appError.code }, error);
        if (appError.code === 'unavailable') noteUnavailable(exchange, appError, error);
        for (const { at } of part) results[at] = failed(faultOf(appError));
      }
      from += part.length;
    }
  };
  const all = [...byId.values()].map(({ organisation, lines }) => {
    lines.sort((left, right) => left.at - right.at);
    return semaphore(() => settle(organisation, lines));
  });
  await Promise.all(all);
  return results;
}

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

function isClosed(response: ServerResponse): boolean {
  return response.closed || response.destroyed || response.writableEnded;
}

/** Waits until the caller has read what was sent, or has left. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
    if (isClosed(response)) done();
  });
}
