import type { ServerResponse } from 'node:http';
import { AppError, type AppErrorExtras, type ErrorCode } from '../../../src/errors';
import { errorHeaders, problemText } from '../../../src/http/problem';
import { type Receiver, startReceiver, stopReceivers } from '../../support/receiver';
import { calling, type Language, type Options, type Outcome, type Waits } from './calling';

/* A server that answers as a test scripts it. */

export type ScriptedAnswer = (response: ServerResponse) => unknown;

export const problem =
  (code: ErrorCode, extras: AppErrorExtras = {}): ScriptedAnswer =>
  (response) => {
    const error = new AppError(code, 'Why.', { ...extras, reason: 'shed' });
    response
      .writeHead(error.status, { 'content-type': 'application/problem+json', ...errorHeaders(error) })
      .end(problemText(error, 'request-1'));
  };
export const page =
  (status: number, headers = {}): ScriptedAnswer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html', ...headers }).end('<html>');
export const json =
  (body: unknown): ScriptedAnswer =>
  (response) =>
    response.writeHead(200, { 'content-type': 'application/json', etag: '"1"' }).end(JSON.stringify(body));
export const lost: ScriptedAnswer = (response) => response.destroy();

/** Gives the answers of each test, in order; to any further request, an error that is not retried. */
export function answering(language: Language) {
  let server: Receiver;
  const scene = {
    answers: [] as ScriptedAnswer[],
    /** What arrived, in order. */
    arrived: (): Receiver['arrived'] => server.arrived,
    url: (): string => new URL(server.url).origin,
    stop: (): Promise<void> => server.stop(),
    call: (calls: object[], options: Options = {}, waits?: Waits): Promise<Outcome[]> =>
      calling(language, { url: scene.url(), ...options }, calls, waits),
  };
  beforeEach(async () => {
    scene.answers = [];
    server = await startReceiver((_arrival, response) => (scene.answers.shift() ?? problem('not_found'))(response));
  });
  afterEach(stopReceivers);
  return scene;
}
