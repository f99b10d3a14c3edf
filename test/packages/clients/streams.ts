import type { ServerResponse } from 'node:http';
import { ERROR_CODES, type ErrorCode } from '../../../src/errors';
import type { Arrival } from '../../support/receiver';
import { answering, type ScriptedAnswer, page, problem } from './answers';
import type { Language, Outcome } from './calling';

/* How a client follows the stream of events through interruptions. */

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
      (...pieces: (string | Buffer)[]): ScriptedAnswer =>
      (response) =>
        head(response).end(Buffer.concat(pieces.map((piece) => Buffer.from(piece))));
    /** The same in two pieces, the first of which ends within a character or between two lines. */
    const inPieces =
      (text: string, at: string): ScriptedAnswer =>
      (response) => {
        const bytes = Buffer.from(text);
        const end = bytes.indexOf(at) + 1;
        head(response).write(bytes.subarray(0, end));
        setTimeout(() => response.end(bytes.subarray(end)), 100);
      };
    /** The cursors from which the connections resumed. */
    const cursors = (): unknown[] => scene.arrived().map(({ event }) => event.variables.after ?? undefined);

    test('resumes after the last cursor when it is cut, ended or stopped by the gateway, after the wait that the gateway asks for', async () => {
      const cut = next('c2', 'two');
      scene.answers = [
        sent(opened, next('c1', 'one'), cut.slice(0, cut.length - 3)),
        (response) => {
          const stream = head(response);
          stream.write(`${opened}:\n\n`);
          setImmediate(() => stream.destroy());
        },
        sent(opened, next('c2', 'zwölf')),
        problem('unavailable'),
        (response) => {
          response.writeHead(503, { 'content-length': 100 }).write('<');
          setImmediate(() => response.destroy());
        },
        sent(opened, next('c3', 'three'), failing('rate_limited', { retry_after: 4 })),
        sent(opened, next('c4', 'four')),
      ];
      const follow = { do: 'events', after: 'start', types: ['order.created'], take: 2 };
      const [first, second] = (await scene.call([follow, follow])) as [Outcome, Outcome];
      expect([...first.rows, ...second.rows].map(({ id, cursor }) => [id, cursor])).toEqual([
        ['one', 'c1'],
        ['zwölf', 'c2'],
        ['three', 'c3'],
        ['four', 'c4'],
      ]);
      expect(cursors()).toEqual(['start', 'c1', 'c0', 'start', 'start', 'start', 'c9']);
      expect(first.retries.map(({ retry }) => retry)).toEqual(['no_answer', 'no_answer']);
      expect(second.retries.map(({ retry }) => retry)).toEqual(['unavailable', 'no_answer', 'rate_limited']);
      expect(second.retries.at(-1)!.seconds).toBe(4);
      const [{ headers, event }] = scene.arrived() as [Arrival];
      expect([headers.accept, headers.authorization]).toEqual(['text/event-stream', 'Bearer key']);
      expect(event.variables).toEqual({ after: 'start', types: ['order.created'] });
    });

    test('is read in whatever pieces it arrives', async () => {
      scene.answers = [inPieces(opened + next('c1', 'zwölf'), 'ö'), inPieces(next('c2', 'two'), '\n')];
      const [{ rows }] = (await scene.call([{ do: 'events', take: 2 }])) as [Outcome];
      expect(rows.map(({ id }) => id)).toEqual(['zwölf', 'two']);
    });

    test('that falls silent is reopened after the last cursor', async () => {
      scene.answers = [
        (response) => head(response).write(opened + next('c1', 'one')),
        (response) => {
          head(response).flushHeaders();
        },
        sent(opened, next('c2', 'two')),
      ];
      const [{ rows, retries }] = (await scene.call([{ do: 'events', silence: 15, take: 2 }])) as [Outcome];
      expect(rows.map(({ id }) => id)).toEqual(['one', 'two']);
      expect(cursors()).toEqual([undefined, 'c1', 'c1']);
      expect(retries.map(({ retry }) => retry)).toEqual(['no_answer', 'no_answer']);
    });

    test('waits longer each time it ends soon after opening, whatever it sends', async () => {
      scene.answers = [
        sent(opened),
        sent(opened, next('c1', 'one'), failing('rate_limited', { retry_after: 'soon' })),
        sent(opened, next('c2', 'two'), failing('rate_limited', { retry_after: -1 })),
        sent(opened, next('c3', 'three')),
      ];
      const [{ retries }] = (await scene.call([{ do: 'events', take: 3 }], { retries: 0 })) as [Outcome];
      expect(retries.map(({ seconds }) => Math.floor(seconds * 2) / 2)).toEqual([0.5, 1, 2]);
    });

    test('with malformed data is an error, as if something other than the gateway had answered', async () => {
      const [start = '', end = ''] = next('c1', '|').split('|');
      const malformed: ScriptedAnswer[] = [
        ...[
          '{',
          '5',
          '"text"',
          '[]',
          'null',
          '0',
          '{}',
          '{"data":null}',
          '{"data":{"events":null}}',
          '{"data":{"events":{"id":"x"}}}',
        ],
        ...['{"errors":["x"]}', '{"errors":[{}]}', '['.repeat(500_000)],
      ].map((data) => sent(`data: ${data}\n\n`));
      malformed.push(sent(start, Buffer.from([0xff]), end));
      scene.answers = [...malformed];
      const outcomes = await scene.call(
        malformed.map(() => ({ do: 'events', take: 1 })),
        { retries: 0 },
      );
      expect(outcomes.map(({ error }) => [error?.name, error?.code] as unknown)).toEqual(
        malformed.map(() => ['ScopegateError', 'unexpected_response']),
      );
    });

    test('with an endless or malformed event is reopened after the last cursor', async () => {
      scene.answers = [
        (response) => head(response).write(`${opened}${next('c1', 'one')}data: ${'x'.repeat(1.5 * 2 ** 20)}`),
        sent(opened, next('c2', 'two'), 'id: c3\ndata: {\n\n'),
        sent(opened, next('c3', 'three')),
      ];
      const [{ rows, retries }] = (await scene.call([{ do: 'events', silence: 10, take: 3 }])) as [Outcome];
      expect(rows.map(({ id }) => id)).toEqual(['one', 'two', 'three']);
      expect(cursors()).toEqual([undefined, 'c1', 'c2']);
      expect(retries.map(({ retry }) => retry)).toEqual(['unexpected_response', 'unexpected_response']);
    });

    test('with a long event in tiny pieces is read in linear time', async () => {
      const bytes = Buffer.from(opened + next('c1', 'x'.repeat(1_000_000)));
      scene.answers = [
        (response) => {
          const stream = head(response);
          for (let at = 0; at < bytes.length; at += 16) stream.write(bytes.subarray(at, at + 16));
          stream.end();
        },
      ];
      const [{ rows }] = (await scene.call([{ do: 'events', take: 1 }])) as [Outcome];
      expect(rows[0].id).toHaveLength(1_000_000);
    });

    test.each([
      ['an invalid key', problem('unauthenticated'), 'unauthenticated', 401],
      ['a missing scope', sent(failing('insufficient_scope')), 'insufficient_scope', 403],
      ['an expired cursor', sent(failing('cursor_expired')), 'cursor_expired', 410],
      [
        'a key that was revoked meanwhile',
        sent(opened, next('c1', 'one'), failing('unauthenticated')),
        'unauthenticated',
        401,
      ],
    ])('ends with an error for %s', async (_what, answer, code, status) => {
      scene.answers = [answer];
      const [{ error, retries }] = (await scene.call([{ do: 'events', take: 9 }])) as [Outcome];
      expect([error, retries, scene.arrived().length]).toEqual([expect.objectContaining({ code, status }), [], 1]);
    });

    test('that never opened is given up like any request', async () => {
      scene.answers = [page(404), page(404)];
      const [{ error }] = (await scene.call([{ do: 'events', take: 1 }], { retries: 1 })) as [Outcome];
      expect(error).toMatchObject({ code: 'unexpected_response', status: 404 });
    });
  });
}
