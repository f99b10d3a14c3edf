import type { ServerResponse } from 'node:http';
import { ERROR_CODES, type ErrorCode } from '../../src/errors';
import type { Arrival } from '../support/receiver';
import { answering, type Obstacle, page, problem } from './answers';
import type { Language, Outcome } from './calling';

/* How a client follows the stream of events, whatever happens to it. */

export function streams(language: Language): void {
  const scene = answering(language);

  describe('a stream', () => {
    const head = (response: ServerResponse): ServerResponse =>
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
    const opened = 'id: c0\n:\n\n';
    const next = (id: string, name: string): string =>
      `id: ${id}\nevent: next\ndata: ${JSON.stringify({ data: { events: { id: name, cursor: id } } })}\n\n`;
    const failing = (code: ErrorCode, extensions = {}): string =>
      `id: c9\nevent: next\ndata: ${JSON.stringify({ errors: [{ message: 'Why.', extensions: { code, status: ERROR_CODES[code].status, ...extensions } }] })}\n\nevent: complete\ndata: \n\n`;
    const sent =
      (...pieces: (string | Buffer)[]): Obstacle =>
      (response) =>
        head(response).end(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
    /** The same in two pieces, the first of which ends within a character or between two lines. */
    const inPieces =
      (text: string, at: string): Obstacle =>
      (response) => {
        const bytes = Buffer.from(text);
        const end = bytes.indexOf(at) + 1;
        head(response).write(bytes.subarray(0, end));
        setTimeout(() => response.end(bytes.subarray(end)), 100);
      };
    /** Which cursors the connections asked to go on after. */
    const cursors = (): unknown[] => scene.arrived().map(({ event }) => event.variables.after ?? undefined);

    test('goes on after the last cursor when it is cut, ended or stopped by the gateway, and waits as it is told', async () => {
      const cut = next('c4', 'four');
      scene.obstacles = [
        sent(opened, next('c1', 'one'), cut.slice(0, cut.length - 3)),
        (response) => {
          const stream = head(response);
          stream.write(`${opened}:\n\n`);
          setImmediate(() => stream.destroy());
        },
        problem('unavailable'),
        (response) => {
          response.writeHead(503, { 'content-length': 100 }).write('<');
          setImmediate(() => response.destroy());
        },
        sent(opened, next('c2', 'zwölf'), failing('rate_limited', { retry_after: 1 })),
        sent(opened, next('c3', 'three'), next('c4', 'four')),
      ];
      const [{ rows, retries }] = (await scene.call([
        { do: 'events', after: 'start', types: ['order.created'], take: 4 },
      ])) as [Outcome];
      expect(rows.map(({ id, cursor }) => [id, cursor])).toEqual([
        ['one', 'c1'],
        ['zwölf', 'c2'],
        ['three', 'c3'],
        ['four', 'c4'],
      ]);
      expect(cursors()).toEqual(['start', 'c1', 'c0', 'c0', 'c0', 'c9']);
      expect(retries.map(({ retry }) => retry)).toEqual([
        'no_answer',
        'no_answer',
        'unavailable',
        'no_answer',
        'rate_limited',
      ]);
      expect(retries.at(-1)!.seconds).toBeGreaterThanOrEqual(1);
      const [{ headers, event }] = scene.arrived() as [Arrival];
      expect([headers.accept, headers.authorization]).toEqual(['text/event-stream', 'Bearer key']);
      expect(event.variables).toEqual({ after: 'start', types: ['order.created'] });
    }, 60_000);

    test('is read whatever pieces it comes in', async () => {
      scene.obstacles = [inPieces(opened + next('c1', 'zwölf'), 'ö'), inPieces(next('c2', 'two'), '\n')];
      const [{ rows }] = (await scene.call([{ do: 'events', take: 2 }])) as [Outcome];
      expect(rows.map(({ id }) => id)).toEqual(['zwölf', 'two']);
    });

    test('that is silent is opened anew, after the last cursor', async () => {
      scene.obstacles = [
        (response) => head(response).write(opened + next('c1', 'one')),
        (response) => {
          head(response).flushHeaders();
        },
        sent(opened, next('c2', 'two')),
      ];
      const [{ rows, retries }] = (await scene.call([{ do: 'events', silence: 1, take: 2 }])) as [Outcome];
      expect(rows.map(({ id }) => id)).toEqual(['one', 'two']);
      expect(cursors()).toEqual([undefined, 'c1', 'c1']);
      expect(retries.map(({ retry }) => retry)).toEqual(['no_answer', 'no_answer']);
    }, 60_000);

    test('waits longer each time that it is opened and nothing follows', async () => {
      scene.obstacles = Array.from({ length: 3 }, () => sent(opened));
      scene.obstacles.push(sent(opened, next('c1', 'one')));
      const [{ retries }] = (await scene.call([{ do: 'events', take: 1 }], { retries: 0 })) as [Outcome];
      expect(retries.map(({ seconds }) => Math.floor(seconds * 2) / 2)).toEqual([0.5, 1, 2]);
    }, 60_000);

    test.each([
      ['a key that is no key', problem('unauthenticated'), 'unauthenticated', 401],
      ['a missing scope', sent(failing('insufficient_scope')), 'insufficient_scope', 403],
      ['a cursor that is too old', sent(failing('cursor_expired')), 'cursor_expired', 410],
      [
        'a key that was revoked meanwhile',
        sent(opened, next('c1', 'one'), failing('unauthenticated')),
        'unauthenticated',
        401,
      ],
    ])('ends with an error for %s', async (_what, obstacle, code, status) => {
      scene.obstacles = [obstacle];
      const [{ error, retries }] = (await scene.call([{ do: 'events', take: 9 }])) as [Outcome];
      expect([error, retries, scene.arrived().length]).toEqual([expect.objectContaining({ code, status }), [], 1]);
    });

    test('that has never opened is given up like any request', async () => {
      scene.obstacles = [page(404), page(404)];
      const [{ error }] = (await scene.call([{ do: 'events', take: 1 }], { retries: 1 })) as [Outcome];
      expect(error).toMatchObject({ code: 'unexpected_response', status: 404 });
    });
  });
}
