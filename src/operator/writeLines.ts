import { setImmediate as nextLoopTurn } from 'node:timers/promises';
import { paceOf } from '../async/yield';
import { OPERATOR } from '../auth/roles';
import { type AppError, invalidRequest } from '../errors';
import { checkBodyHeaders } from '../http/body';
import { drained, isClosed } from '../http/drain';
import { type Exchange, createIncomingRequest, noteElements, noteUnavailable } from '../http/exchange';
import { NDJSON, NDJSON_LIMITS, ndjsonPieces } from '../http/ndjson';
import { methodNotAllowed } from '../http/requestHead';
import { toAppError } from '../mongo/toAppError';
import type { CallContext, OpenContext } from '../operations/context';
import { ELEMENTS_PER_POINT, MEBIBYTE } from '../units';
import type { OperatorContext } from './context';
import { type PieceContext, writePiece, type WrittenCounts } from './writePiece';

/* Writes to many organisations, line by line (docs/decisions/operator-writes.md). */

export const WRITE_LINES = 'write_lines';

/**
 * Bytes of results that wait for the reader before no more lines are read, so that most callers may read only once they have sent everything: the
 * results of 10,000 lines that are stored are 1 MiB. With more, one that does not read waits until its request has taken too long.
 */
const MAX_UNREAD = 4 * MEBIBYTE;

interface WriteLinesOptions {
  readonly openContext: OpenContext<OperatorContext>;
  readonly isDraining: () => boolean;
  readonly onError: PieceContext['onError'];
}

export function createWriteLines({
  openContext,
  isDraining,
  onError,
}: WriteLinesOptions): (exchange: Exchange) => Promise<void> {
  return async (exchange) => {
    const { request, response } = exchange;
    if (request.method !== 'POST') throw methodNotAllowed(request, ['POST']);
    exchange.log.operation = WRITE_LINES;
    const context = await openContext(createIncomingRequest(exchange));
    context.authorise({ scope: undefined, role: OPERATOR });
    if (exchange.search !== '')
      throw invalidRequest([{ parameter: 'query', code: 'unknown', detail: 'this route has no parameters' }]);
    checkBodyHeaders(request, NDJSON_LIMITS.bytes, NDJSON);
    await exchange.queue.take(exchange, 'body');
    const { operator } = context;
    const written: WrittenCounts = new Map();
    try {
      try {
        await answerLines(exchange, { context, operator, exchange, written, onError }, isDraining);
      } finally {
        // before the answer ends, so that who has it finds what was written in the audit log
        for (const [id, counts] of written) await operator.lines.note({ id }, counts);
      }
      if (!isClosed(response)) response.end();
    } catch (error) {
      if (!response.headersSent) throw error;
      const appError = toAppError(error);
      const { code } = appError;
      exchange.log.code = code;
      if (code === 'unavailable') noteUnavailable(exchange, appError, error);
      // other errors are the caller's, or pass: it sees that results are missing, and its next request says why
      if (code === 'internal') {
        // the lines that were answered are stored; a connection cut off tells the caller that the answer is not whole
        response.destroy(error as Error);
        throw error;
      }
      response.end();
    }
  };
}

/** Reads, writes and answers lines, a piece at a time. Lines without an answer may have been stored; callers send them again. */
async function answerLines(
  exchange: Exchange,
  writing: Omit<PieceContext, 'pace' | 'refusal'>,
  isDraining: () => boolean,
) {
  const { response } = exchange;
  const until = performance.now() + NDJSON_LIMITS.time;
  // one for all pieces, since a single piece may be too short to yield the event loop
  const pace = paceOf(() => nextLoopTurn());
  let lines = 0;
  // lines that are charged and not yet written; the request's own point paid for the first hundred
  let chargedLines = ELEMENTS_PER_POINT;
  const beginAnswer = (): void => {
    if (!response.headersSent) response.writeHead(200, { 'Content-Type': NDJSON, 'Cache-Control': 'no-store' });
  };
  for await (const piece of ndjsonPieces(exchange)) {
    if (piece.length > 0) {
      const points = Math.max(0, Math.ceil((piece.length - chargedLines) / ELEMENTS_PER_POINT));
      const refusal = await chargeFor(writing.context, points);
      // the whole piece fails, also what earlier points paid for: it is sent again as it is. After a refusal none is left, so that later lines are refused until a charge succeeds
      chargedLines = refusal ? 0 : chargedLines + points * ELEMENTS_PER_POINT - piece.length;
      const results = await writePiece(piece, { ...writing, pace, refusal });
      noteElements(exchange, results.filter(({ outcome }) => outcome === 'failed').length, results.length);
      if (isClosed(response)) return;
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

/** Takes points from the token's budget; resolves with the error that fails the lines if there are not enough. @throws AppError internal if the limiter fails */
async function chargeFor(context: CallContext, points: number): Promise<AppError | undefined> {
  if (points === 0) return undefined;
  try {
    await context.charge(points);
    return undefined;
  } catch (error) {
    const refusal = toAppError(error);
    if (refusal.code === 'internal') throw error;
    return refusal;
  }
}
