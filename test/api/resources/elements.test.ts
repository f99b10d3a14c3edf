import { randomUUID } from 'node:crypto';
import { type Json, readAll } from '../../support/client';
import { FACES, GRAPHQL, REST } from '../../support/faces';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { newKey, UPSERT_CALLS, upserting, UPSERTS } from '../../support/upserts';

/* Each element of a bulk call is checked separately, and answers list a limited number of errors and count the rest. */

const gateway = served();
const caller = late(() => callerOf(gateway));

describe.each(UPSERTS)('in REST, an element of $list', (kind) => {
  const { list, key } = kind;
  const { call, report, element, stored } = upserting(kind, REST, () => caller);

  test.each<[string, () => Json, string, string]>([
    ['that is a string', () => 'x', '', 'type'],
    ['that is null', () => null, '', 'required'],
    ['that is a list', () => [element()], '', 'type'],
    ['with a number for its key', () => element({ [key]: 5 }), `/${key}`, 'type'],
    ['with an unknown member', () => element({ colour: 'red' }), '/colour', 'unknown'],
    [
      'with a member named __proto__',
      () => JSON.parse(`{"${key}":"P","name":"P","__proto__":{}}`),
      '/__proto__',
      'unknown',
    ],
    ['with an invalid date', () => element({ created_at: 'yesterday' }), '/created_at', 'format'],
    ['with an invalid id', () => element({ id: 'x' }), '/id', 'format'],
  ])('%s fails, and only that one', async (_title, make, pointer, code) => {
    const good = element();
    const { results, ...counts } = await report([make(), good]);
    expect(counts).toEqual({ created: 1, updated: 0, unchanged: 0, failed: 1 });
    expect(results[0]).toMatchObject({ index: 0, id: null, outcome: 'failed' });
    expect(results[0].errors).toEqual([{ pointer: `/${list}/0${pointer}`, code, detail: expect.any(String) }]);
    expect(await stored(good)).toBeDefined();
  });

  test('that is deeply nested fails, and only that one, with an Idempotency-Key too', async () => {
    const deep = '['.repeat(60) + ']'.repeat(60);
    const good = element();
    const body = `{"${list}":[${deep},{"${key}":"${newKey()}","name":${deep}},${JSON.stringify(good)}]}`;
    const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() };
    const answer = await caller.send('POST', `/${list}/bulk`, { body, headers });
    expect(answer.body).toMatchObject({
      created: 1,
      failed: 2,
      results: [{ outcome: 'failed' }, { outcome: 'failed' }, {}],
    });
  });

  test.each([['atomic'], ['dry_run']])('is not processed if %s is ill-typed', async (option) => {
    const good = element();
    const { problem } = await call(['x', good], { [option]: 'yes' });
    expect(problem).toMatchObject({ status: 422, errors: [{ pointer: `/${option}`, code: 'type' }] });
    expect(await stored(good)).toBeUndefined();
  });

  test('that is ill-typed rejects an atomic call', async () => {
    const good = element();
    const { problem } = await call(['x', good, element({ colour: 1 })], { atomic: true });
    const pointers = problem!.errors.map(({ pointer }: Json) => pointer);
    expect([problem!.status, pointers]).toEqual([422, [`/${list}/0`, `/${list}/2/colour`]]);
    expect(await stored(good)).toBeUndefined();
  });

  test('rows read back can be sent again unchanged, and change nothing', async () => {
    await report(Array.from({ length: 5 }, () => element(kind.full)));
    const rows = (await readAll(caller, `/${list}`, { limit: 100 })).slice(0, 1000);
    expect(rows.length).toBeGreaterThanOrEqual(5);
    expect(await report(rows)).toMatchObject({ unchanged: rows.length, failed: 0 });
    expect(await report(rows.map((row) => ({ ...row, id: row.id.toUpperCase() })))).toMatchObject({ failed: 0 });
  });
});

describe.each(UPSERTS)('in GraphQL, a variable of $list', (kind) => {
  const { call, element, stored } = upserting(kind, GRAPHQL, () => caller);
  test.each<[string, Json]>([
    ['that is a string', 'x'],
    ['that is null', null],
    ['with an unknown member', { colour: 'red' }],
  ])('%s rejects the call', async (_title, members) => {
    const good = element();
    const bad = typeof members === 'object' && members !== null ? element(members) : members;
    const { problem } = await call([bad, good]);
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
    expect(await stored(good)).toBeUndefined();
  });
});

describe.each(UPSERT_CALLS)('an id in an element of $list in $face_name', ({ kind, face }) => {
  const { list, key } = kind;
  const { report, element, stored } = upserting(kind, face, () => caller);

  test('of another object, or unknown, fails only that element', async () => {
    const [one, other] = [element(), element()];
    await report([one, other]);
    const { id } = await stored(other);
    const elements = [{ ...one, id, name: 'Renamed' }, element({ id: randomUUID() }), { ...other, id }];
    const { results, ...counts } = await report(elements);
    expect(counts).toEqual({ created: 0, updated: 0, unchanged: 1, failed: 2 });
    for (const index of [0, 1]) {
      expect(results[index].errors).toEqual([
        { pointer: `/${list}/${String(index)}/id`, code: 'conflict', detail: expect.any(String) },
      ]);
    }
    expect(await stored(one)).toMatchObject({ name: one.name });
    expect(await stored({ [key]: elements[1][key] })).toBeUndefined();
  });

  test('that is null is ignored, like timestamps', async () => {
    const one = element({ created_at: '1997-01-01T00:00:00Z', updated_at: '1997-01-01T00:00:00Z', id: null });
    expect(await report([one])).toMatchObject({ created: 1 });
    expect((await stored(one)).created_at).not.toMatch(/^1997/);
  });
});

/** Contacts with two errors each. */
const faulty = (contacts: number): Json => ({
  contacts: Array.from({ length: contacts }, () => ({ name: '', email: 'a' })),
});

test('of an element with faults that is too large to search as a whole, the count is the least that it has', async () => {
  const customer = { external_ref: 'large', name: 'N', ...faulty(5), colours: Array<number>(10_001).fill(0) };
  const { body } = await caller.post('/customers/bulk', { customers: [customer] });
  expect(body.results[0].errors.at(-1)).toMatchObject({ code: 'more', detail: 'at least 1 more fault' });
});

describe.each(FACES)('in $name, errors', (face) => {
  const { call, report, element } = upserting(UPSERTS[1]!, face, () => caller);

  test('of one element are listed up to 10, and the rest counted', async () => {
    const { results } = await report([
      element(faulty(5)),
      element(faulty(10)),
      element({ ...faulty(5), phone: '1'.repeat(51) }),
    ]);
    const listed = results.map(({ errors }: Json) => errors.filter(({ code }: Json) => code !== 'more').length);
    expect(listed).toEqual([10, 10, 10]);
    expect(results[0].errors).toHaveLength(10);
    expect(results[1].errors.slice(10)).toEqual([{ pointer: '/customers/1', code: 'more', detail: '10 more faults' }]);
    expect(results[2].errors.slice(10)).toEqual([{ pointer: '/customers/2', code: 'more', detail: '1 more fault' }]);
  });

  test('of a call are listed up to 100, and later elements have only a count', async () => {
    const elements = [
      element({ name: '' }),
      ...Array.from({ length: 10 }, () => element(faulty(5))),
      element({ name: '' }),
      element(faulty(5)),
    ];
    const { results, failed } = await report(elements);
    expect(failed).toBe(13);
    expect(results[10].errors).toHaveLength(10);
    expect(results[10].errors[9]).toEqual({ pointer: '/customers/10', code: 'more', detail: '1 more fault' });
    expect(results.slice(11).map(({ errors }: Json) => errors)).toEqual([
      [{ pointer: '/customers/11', code: 'more', detail: '1 fault, not listed: a call lists at most 100' }],
      [{ pointer: '/customers/12', code: 'more', detail: '10 faults, not listed: a call lists at most 100' }],
    ]);
  });

  test('of an atomic call are listed up to 100, of an element up to 10, and the rest counted in its detail', async () => {
    const elements = [element(faulty(10)), ...Array.from({ length: 20 }, () => element(faulty(5)))];
    const { answer, problem } = await call(elements, { atomic: true });
    const ofElement = (index: number) =>
      problem!.errors.filter(({ pointer }: Json) => pointer.startsWith(`/customers/${String(index)}/`)).length;
    expect([problem!.errors.length, ofElement(0), ofElement(1), ofElement(9), ofElement(10)]).toEqual([
      ...[100, 10, 10, 10, 0],
    ]);
    expect(answer.text).toContain('(and 219 more)');
  });
});

test('keys and pointers in answers are truncated at whole characters', async () => {
  const { report, element } = upserting(UPSERTS[0]!, REST, () => caller);
  const { results } = await report([
    element({ sku: 's'.repeat(100_000) }),
    element({ ['m'.repeat(100_000)]: 1 }),
    element({ ['/'.repeat(100_000)]: 1 }),
    element({ ['\ud83d\ude00'.repeat(1000)]: 1, '\ud800': 1 }),
    element({ sku: `\ud800${newKey()}` }),
  ]);
  expect(results[0].sku).toBe(`${'s'.repeat(64)}…`);
  expect(JSON.stringify(results).length).toBeLessThan(2500);
  for (const { pointer } of results.flatMap(({ errors }: Json) => errors)) {
    expect(pointer).toMatch(/^(\/([^~/]|~0|~1)*)*$/);
    expect(pointer.isWellFormed()).toBe(true);
  }
  expect(results[4].sku).toBe(results[4].sku.toWellFormed());
});

test('with an Idempotency-Key, the answer to a body of nearly 5 MiB of faults is short, and replayed byte for byte', async () => {
  const members = (at: number) =>
    Array.from({ length: 10 }, (_none, member) => [`${String(member)}\ud800~${'n'.repeat(480)}`, at]);
  const customers = Array.from({ length: 1000 }, (_none, at) => Object.fromEntries(members(at)));
  const headers = { 'idempotency-key': randomUUID() };
  const first = await caller.post('/customers/bulk', { customers }, headers);
  expect([first.status, first.body.failed]).toEqual([200, 1000]);
  expect(first.text.length).toBeLessThan(512 * 1024);
  const again = await caller.post('/customers/bulk', { customers }, headers);
  expect(again.headers.get('idempotent-replayed')).toBe('true');
  expect(again.text).toBe(first.text);
});
