import type { ServerResponse } from 'node:http';
import type { ExecutionResult, FormattedExecutionResult } from 'graphql';
import { print } from 'graphql-sse';
import type { Logger } from 'pino';
import { paceOf } from '../../async/yield';
import { drained, isClosed } from '../../http/drain';
import { type Exchange, noteUnavailable } from '../../http/exchange';
import { describeError } from '../../log';
import { toAppError } from '../../mongo/toAppError';
import { errorOf, formatError } from '../errors';
import type { Subscription } from './subscribe';

/*
 * Answers that are streams: GraphQL over Server-Sent Events in the distinct connections mode
 * (https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md), with an `id:` from which each can be resumed.
 */

/** A comment of Server-Sent Events, which shows proxies and callers that a stream is alive. */
const COMMENT = ':\n\n';
const COMPLETE = print({ event: 'complete', data: null });
const HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  // a proxy that compresses would hold events back
  'Cache-Control': 'no-store, no-transform',
  'X-Content-Type-Options': 'nosniff',
  // otherwise nginx would buffer events before passing them on
  'X-Accel-Buffering': 'no',
};

type YieldToOthers = () => Promise<void>;

interface OpenStream {
  readonly response: ServerResponse;
  /** When its next comment is due, by performance.now(). */
  commentAt: number;
}

interface Options {
  readonly logger: Logger;
  /** How often an open stream is sent a comment, in milliseconds. */
  readonly commentEvery: number;
}

export function createEventStreams({ logger, commentEvery }: Options) {
  const open = new Set<OpenStream>();
  let timer: NodeJS.Timeout | undefined;
  let sharedPause: Promise<void> | undefined;
  let yieldForLast: YieldToOthers = () => Promise.resolve();
  const pace = paceOf(() => yieldForLast());

  /** Sends all comments that are due. */
  function tick(): void {
    const now = performance.now();
    for (const stream of open) {
      if (now < stream.commentAt) continue;
      stream.commentAt = now + commentEvery;
      // another write to a socket that accepts no more data would keep it from timing out
      if (!stream.response.writableNeedDrain) stream.response.write(COMMENT);
    }
    if (open.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /** What to wait for before the next event, shared by all streams: hundreds of events for hundreds of streams would block the loop for seconds. */
  function turnOf(yieldToOthers: YieldToOthers): Promise<void> | undefined {
    if (sharedPause) return sharedPause;
    yieldForLast = yieldToOthers;
    sharedPause = pace()?.finally(() => (sharedPause = undefined));
    return sharedPause;
  }

  async function run(
    exchange: Exchange,
    { source, resultOf }: Subscription,
    yieldToOthers: YieldToOthers,
  ): Promise<void> {
    const { response, requestId } = exchange;
    const stream = { response, commentAt: performance.now() + commentEvery };
    open.add(stream);
    timer ??= setInterval(tick, Math.min(commentEvery, 1000)).unref();
    try {
      response.writeHead(200, HEADERS);
      response.write(idLine(source.cursor) + COMMENT);
      for await (const payload of source) {
        // checked again right before the work, since all waiting streams resume together, each with an event
        for (let wait = turnOf(yieldToOthers); wait; wait = turnOf(yieldToOthers)) await wait;
        const result = formatted(await resultOf(payload));
        if (isClosed(response)) return;
        if (!response.write(frame(source.cursor, result))) await drained(response, source.ended);
      }
      if (!isClosed(response)) response.end(COMPLETE);
    } catch (error) {
      const appError = toAppError(error);
      if (appError.code === 'internal')
        logger.error({ request_id: requestId, error: describeError(error) }, 'stream failed');
      if (appError.code === 'unavailable') noteUnavailable(exchange, appError, error);
      exchange.log.code = appError.code;
      const { message, extensions } = errorOf(appError, requestId);
      const resumable = {
        message: `${message} To go on, subscribe again with after set to the cursor in extensions.`,
        extensions: { ...extensions, cursor: source.cursor },
      };
      if (!isClosed(response)) response.end(frame(source.cursor, { errors: [resumable] }) + COMPLETE);
    } finally {
      open.delete(stream);
    }
  }

  return {
    /** Answers with the results of a subscription until it ends. */
    send(exchange: Exchange, subscription: Subscription, yieldToOthers: YieldToOthers): void {
      exchange.log.streaming = performance.now();
      run(exchange, subscription, yieldToOthers).catch((error: unknown) => {
        logger.error({ request_id: exchange.requestId, error: describeError(error) }, 'stream failed');
        exchange.response.destroy();
      });
    },
    /** Answers with one result: a line of JSON. */
    sendResult({ response }: Exchange, result: string | Buffer): void {
      response.writeHead(200, HEADERS);
      response.write('event: next\ndata: ');
      response.write(result);
      response.end(`\n${COMPLETE}`);
    },
  };
}

function idLine(cursor: string): string {
  return `id: ${cursor}\n`;
}

function frame(cursor: string, result: FormattedExecutionResult): string {
  return idLine(cursor) + print({ event: 'next', data: result as ExecutionResult });
}

/** A result with its errors formatted the way all answers have them. */
function formatted({ errors, ...result }: ExecutionResult): FormattedExecutionResult {
  return errors ? { ...result, errors: errors.map((error) => formatError(error.toJSON(), error)) } : result;
}
