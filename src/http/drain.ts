import type { ServerResponse } from 'node:http';

/* Answers that are written piece by piece, no faster than their caller reads them. */

/** Whether nothing more can be written: the answer has ended, or the caller has left. */
export function isClosed(response: ServerResponse): boolean {
  return response.closed || response.destroyed || response.writableEnded;
}

/** Waits until the caller has read enough to be sent more, the answer is closed, or `stop` is aborted. */
export function drained(response: ServerResponse, stop?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      stop?.removeEventListener('abort', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
    stop?.addEventListener('abort', done);
    if (isClosed(response) || stop?.aborted) done();
  });
}
