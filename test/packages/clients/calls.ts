import { ERROR_CODES, type ErrorCode } from '../../../src/errors';
import { answering, json, lost, type ScriptedAnswer, page, problem } from './answers';
import type { Language, Outcome } from './calling';

/* How a client handles the answers to its requests. */

const RETRIED: Readonly<Record<string, ScriptedAnswer>> = {
  conflict: problem('conflict'),
  idempotency_in_progress: problem('idempotency_in_progress'),
  rate_limited: problem('rate_limited', { retryAfter: 1 }),
  internal: problem('internal'),
  unavailable: problem('unavailable'),
  no_answer: lost,
  unexpected_response: page(502),
};

export function calls(language: Language): void {
  const scene = answering(language);
  const ME = { do: 'get', route: '/me' };
  const WRITE = { do: 'post', route: '/requests', body: { text: 'Hello' } };

  test('whatever the API calls retryable is retried, every attempt of a write with the same Idempotency-Key', async () => {
    const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => ERROR_CODES[code].retry !== 'no');
    expect(Object.keys(RETRIED)).toEqual(expect.arrayContaining(codes));
    const met = Object.keys(RETRIED);
    const outcomes = await scene.call(
      [...met.map(() => WRITE), ME, { ...WRITE, key: 'mine' }].map((one, at) => {
        const [, answer] = Object.entries(RETRIED)[at % met.length]!;
        scene.answers.push(answer, json({ id: 'done' }));
        return one;
      }),
    );
    expect(outcomes.map(({ result, retries }) => [result, retries.map(({ retry }) => retry)])).toEqual(
      [...met, met[0], met[1]].map((code) => [{ id: 'done' }, [code]]),
    );
    const keys = scene.arrived().map(({ headers }) => headers['idempotency-key']);
    for (let at = 0; at < met.length; at += 1) expect(keys[2 * at]).toBe(keys[2 * at + 1]);
    expect(new Set(keys.slice(0, 2 * met.length)).size).toBe(met.length);
    expect(keys.slice(2 * met.length)).toEqual([undefined, undefined, 'mine', 'mine']);
    const [first, again] = scene.arrived();
    expect(again!.body).toBe(first!.body);
  });

  test('any other error is raised at once, with all its details', async () => {
    const codes = (Object.keys(ERROR_CODES) as ErrorCode[]).filter((code) => ERROR_CODES[code].retry === 'no');
    const errors = [{ pointer: '/text', code: 'length', detail: 'too long' }] as const;
    scene.answers = [...codes.map((code) => problem(code, { errors })), problem('conflict', { errors })];
    const outcomes = await scene.call([...codes, 'conflict'].map(() => WRITE));
    expect(scene.arrived()).toHaveLength(codes.length + 1);
    for (const [at, code] of [...codes, 'conflict' as const].entries())
      expect(outcomes[at]).toMatchObject({
        error: {
          name: 'ScopegateError',
          code,
          status: ERROR_CODES[code].status,
          detail: 'Why.',
          requestId: 'request-1',
          message: `${code}: Why.`,
          errors,
          isRetryable: false,
        },
        retries: [],
      });
  });

  test('Retry-After is respected, as seconds and as a date; without it waits grow, until the retries are used up', async () => {
    // a date has whole seconds
    const date = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3000);
    const arrivals: number[] = [];
    const noted =
      (answer: ScriptedAnswer): ScriptedAnswer =>
      (response) =>
        void (arrivals.push(Date.now()), answer(response));
    const unavailable = page(503, {});
    scene.answers = [
      page(503, { 'retry-after': date.toUTCString() }),
      problem('rate_limited', { retryAfter: 2 }),
      json({}),
    ].map(noted);
    scene.answers.push(unavailable, unavailable, unavailable);
    const [first, second] = await scene.call([ME, ME], { retries: 2 }, 'real');
    expect(first).toMatchObject({
      result: {},
      retries: [{ retry: 'unexpected_response' }, { retry: 'rate_limited', seconds: 2 }],
    });
    expect(arrivals[1]).toBeGreaterThanOrEqual(date.getTime());
    expect(arrivals[2]! - arrivals[1]!).toBeGreaterThanOrEqual(1990);
    expect(second).toMatchObject({ error: { code: 'unexpected_response', status: 503, isRetryable: true } });
    const [half, one] = second!.retries.map(({ seconds }) => seconds);
    expect([half! >= 0.5 && half! < 0.7, one! >= 1 && one! < 1.3]).toEqual([true, true]);
  });

  test('a timeout is retried; errors distinguish an unreachable server, a proxy and a redirect from the API', async () => {
    scene.answers = [() => undefined, page(301, { location: `${scene.url()}/other` })];
    const [late] = await scene.call([WRITE], { retries: 1, timeout: 20 });
    expect(late).toMatchObject({
      retries: [{ retry: 'no_answer' }],
      error: { code: 'unexpected_response', status: 301 },
    });
    expect(scene.arrived().map(({ url: path }) => path)).toEqual(['/api/v1/requests', '/api/v1/requests']);
    await scene.stop();
    const [away] = await scene.call([{ ...ME, do: 'list', route: '/orders', query: { q: 'Ann' } }], { retries: 1 });
    expect(away).toMatchObject({ error: { code: 'no_answer', status: 0, isRetryable: true } });
    expect(away!.error.detail).toContain(scene.url());
    for (const { shown } of [away!.error, ...away!.retries]) expect(shown).not.toContain('Ann');
  });

  test('white space around a key is removed; a text that cannot be a key is refused, and no message shows it', async () => {
    scene.answers = [lost, json({})];
    const [trimmed] = await scene.call([ME], { key: '\t hidden\r\n' });
    expect(scene.arrived().map(({ headers }) => headers.authorization)).toEqual(['Bearer hidden', 'Bearer hidden']);
    const outcomes = [trimmed!];
    for (const key of ['hid\nden', 'hid den', 'hiddén', 'hidden\u0000', ' \n']) {
      const [refused] = await scene.call([ME], { key });
      expect(refused!.error.message).toMatch(/^The API key is missing or has invalid characters/);
      outcomes.push(refused!);
    }
    expect(JSON.stringify(outcomes)).not.toContain('hid');
    expect(scene.arrived()).toHaveLength(2);
  });

  test('a URL with a password is refused, without showing it', async () => {
    for (const url of [
      'http://ann:hidden@127.0.0.1:1',
      'http://ann:hid/den@a.example',
      'ann:hidden',
      'http://a?q=hidden',
    ]) {
      const [{ error }] = (await scene.call([ME], { url })) as [Outcome];
      expect(error.message).toMatch(/^The URL of the gateway must look like/);
      expect(JSON.stringify(error)).not.toContain('hid');
    }
    scene.answers = [json({ ok: true })];
    expect((await scene.call([ME], { url: ` ${scene.url()}/\n` }))[0]!.result).toEqual({ ok: true });
  });

  test('an empty If-Match is sent, so that the write is not unconditional', async () => {
    const write = { do: 'patch', route: '/orders/{id}', path: { id: 'x' }, body: {} };
    await scene.call([{ ...write, etag: '' }, write]);
    expect(scene.arrived().map(({ headers }) => headers['if-match'])).toEqual(['', undefined]);
  });

  test('a version that is refused three times, and read again before each, ends with an error of its own', async () => {
    const path = { id: 'x' };
    const read = { do: 'read', route: '/orders/{id}', path, query: { include: ['customer'] } };
    const write = { do: 'patch', route: '/orders/{id}', path, body: {}, etag: '"1"' };
    const refused = problem('precondition_failed');
    const tries = async (calls: object[], answers: ScriptedAnswer[]): Promise<(string | undefined)[]> => {
      scene.answers = answers;
      const codes = (await scene.call(calls)).map(({ error }) => error?.code as string | undefined);
      return codes.filter((_, at) => calls[at] !== read);
    };
    const rounds = Array.from({ length: 4 }, () => [read, write]).flat();
    const answered = (version: (round: number) => ScriptedAnswer): ScriptedAnswer[] =>
      Array.from({ length: 4 }, (_, round) => [version(round), refused]).flat();
    const again = ['precondition_failed', 'precondition_failed'];
    // the driver goes on where a program would end
    expect(
      await tries(
        rounds,
        answered(() => json({})),
      ),
    ).toEqual([...again, 'etag_refused', 'precondition_failed']);
    const tagged =
      (etag: string): ScriptedAnswer =>
      (response) =>
        response.writeHead(200, { 'content-type': 'application/json', etag }).end('{}');
    // somebody else really was faster
    const others = answered((round) => tagged(`"${String(round + 2)}"`));
    expect(await tries(rounds, others)).toEqual([...again, ...again]);
    // nobody read it again
    const blind = [write, write, write, write];
    expect(await tries(blind, [refused, refused, refused, refused])).toEqual([...again, ...again]);
    scene.answers = answered(() => json({}));
    const [, , , , , last] = await scene.call(rounds.slice(0, 6));
    expect(last!.error).toMatchObject({ status: 412, requestId: 'request-1', isRetryable: false });
    expect(last!.error.detail).toMatch(
      /^\/orders\/x still has the ETag "1" that the gateway refused 3 times\. A proxy/,
    );
  });

  test('a retry_after that is not a number from 0 up is ignored, and no wait is longer than ten minutes', async () => {
    const said =
      (retryAfter: string): ScriptedAnswer =>
      (response) =>
        response
          .writeHead(429, { 'content-type': 'application/problem+json' })
          .end(`{"code":"rate_limited","detail":"Why.","status":429,"request_id":"r","retry_after":${retryAfter}}`);
    const wrong = ['"soon"', '{}', '[1]', '-5', '1e999', 'null', 'true'].map(said);
    wrong.push(
      page(503, { 'retry-after': '9'.repeat(400) }),
      page(503, { 'retry-after': 'Mon, 01 Jan 99999999999999999999' }),
    );
    scene.answers = [...wrong];
    const outcomes = await scene.call(
      wrong.map(() => ME),
      { retries: 0 },
    );
    expect(outcomes.map(({ error }) => [error.name, error.retryAfter ?? null] as unknown)).toEqual(
      wrong.map(() => ['ScopegateError', null]),
    );
    scene.answers = [said('"soon"'), json({}), said('1e9')];
    const [soon, long] = await scene.call([ME, ME]);
    expect(soon!.retries[0]!.seconds).toBeLessThan(1);
    expect(long!.retries.map(({ seconds }) => seconds)).toEqual([600]);
  });

  test('parameters are encoded, repeated and omitted as the API expects, and the key is sent in the header', async () => {
    scene.answers = [json({}), json({})];
    const outcomes = await scene.call([
      { do: 'read', route: '/orders/{id}', path: { id: 'a/b?c' }, query: { include: ['customer'] } },
      { do: 'get', route: '/products', query: { active: true, sku: ['A 1', 'B+2'] } },
      ...['', '.', '..'].map((id) => ({ do: 'patch', route: '/orders/{id}', path: { id }, body: {} })),
    ]);
    const [read, list] = scene.arrived();
    expect(read!.url).toBe('/api/v1/orders/a%2Fb%3Fc?include=customer');
    expect([...new URL(list!.url, scene.url()).searchParams]).toEqual([
      ['active', 'true'],
      ['sku', 'A 1'],
      ['sku', 'B+2'],
    ]);
    expect(read!.headers.authorization).toBe('Bearer key');
    expect(outcomes[0]!.result[1]).toBe('"1"');
    for (const { error } of outcomes.slice(2)) expect(error.message).toBe('/orders/{id} needs a value for id.');
    expect(scene.arrived()).toHaveLength(2);
  });

  test('a list is read page by page with the same filters, and only as far as it is used', async () => {
    const rows = (...data: number[]): ScriptedAnswer => json({ data, next_cursor: `after ${String(data.at(-1))}` });
    scene.answers = [rows(1, 2), problem('unavailable'), rows(3, 4), rows(1)];
    const list = { do: 'list', route: '/orders', query: { status: ['completed'] } };
    const [all, lines] = await scene.call([
      { ...list, take: 3 },
      { ...list, query: { include: ['lines'] }, take: 1 },
    ]);
    expect([all!.rows, lines!.rows]).toEqual([[1, 2, 3], [1]]);
    const asked = scene.arrived().map(({ url: path }) => Object.fromEntries(new URL(path, scene.url()).searchParams));
    const second = { status: 'completed', limit: '100', cursor: 'after 2' };
    expect(asked).toEqual([{ status: 'completed', limit: '100' }, second, second, { include: 'lines', limit: '50' }]);
  });

  test('GraphQL: temporary errors are retried with the same key, any other is raised even if there is data', async () => {
    const error = (code: string, status: number) => ({
      message: 'Why.',
      extensions: { code, status, request_id: 'r' },
    });
    scene.answers = [
      json({ data: null, errors: [error('unavailable', 503)] }),
      json({ data: { me: 1 } }),
      json({ data: { me: 1 }, errors: [error('insufficient_scope', 403)] }),
    ];
    const ask = { do: 'graphql', document: 'query ($id: ID!) { order(id: $id) { id } }', variables: { id: 'x' } };
    const [data, refused] = await scene.call([ask, ask]);
    expect(data).toMatchObject({ result: { me: 1 }, retries: [{ retry: 'unavailable' }] });
    expect(refused).toMatchObject({
      error: { code: 'insufficient_scope', status: 403, detail: 'Why.', requestId: 'r' },
    });
    const [first, again, other] = scene.arrived().map(({ headers }) => headers['idempotency-key']);
    expect([first === again, again === other]).toEqual([true, false]);
    expect(scene.arrived()[0]!.event).toEqual({ query: ask.document, variables: ask.variables });
  });
}
