import type { Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { REST } from '../../support/faces';
import { newKey, UPSERT_CALLS, upserting, UPSERTS, written } from '../../support/upserts';

const gateway = served();
const organisation = late(() => makeOrganisation(gateway));
const caller = late(() => callerOf(gateway, organisation));

describe.each(UPSERT_CALLS)('upserting $list in $face_name', ({ kind, face }) => {
  const { list, key, full, cleared } = kind;
  const { call, report, element, stored } = upserting(kind, face, () => caller);
  /** Stores an element and returns it with the stored row. */
  const make = async (members: Json = {}): Promise<{ one: Json; before: Json }> => {
    const one = element(members);
    await report([one]);
    return { one, before: await stored(one) };
  };

  test('creates a new object with every member as given', async () => {
    const one = element(full);
    const { results, ...counts } = await report([one]);
    expect(counts).toEqual({ created: 1, updated: 0, unchanged: 0, failed: 0 });
    const row = await stored(one);
    expect(results).toEqual([{ index: 0, [key]: one[key], id: row.id, outcome: 'created', errors: [] }]);
    expect(written(row)).toEqual(one);
    expect(row.created_at).toBe(row.updated_at);
  });

  test('creates an object with defaults from only key and name; updates it and keeps its id and created_at', async () => {
    const { one, before } = await make();
    expect(written(before)).toEqual({ ...one, ...cleared });
    const { results, updated } = await report([{ ...one, ...full, name: 'Renamed' }]);
    expect(updated).toBe(1);
    expect(results[0]).toEqual({ index: 0, [key]: one[key], id: before.id, outcome: 'updated', errors: [] });
    const after = await stored(one);
    expect(written(after)).toEqual({ ...one, ...full, name: 'Renamed' });
    expect(after).toMatchObject({ id: before.id, created_at: before.created_at });
    expect(Date.parse(after.updated_at)).toBeGreaterThanOrEqual(Date.parse(before.updated_at));
  });

  test('clears each other member by null, keeps an omitted name of an existing object, and rejects null for it', async () => {
    const { one } = await make(full);
    const [member, value] = Object.entries<Json>(full)[0]!;
    const nulls = Object.fromEntries(Object.keys(full as object).map((name) => [name, null]));
    const { results, ...counts } = await report([{ [key]: one[key], ...nulls }]);
    expect(counts).toEqual({ created: 0, updated: 1, unchanged: 0, failed: 0 });
    expect(written(await stored(one))).toEqual({ ...one, ...cleared });
    const refused = await report([{ [key]: one[key], name: null, [member]: value }]);
    expect(results[0].errors).toEqual([]);
    expect(refused.results[0].errors).toEqual([
      { pointer: `/${list}/0/name`, code: 'required', detail: 'must not be null' },
    ]);
  });

  test('leaves an unchanged object as it is, including updated_at', async () => {
    const { one, before } = await make(full);
    for (const same of [one, { [key]: one[key], name: one.name }]) {
      const { results, ...counts } = await report([same]);
      expect(counts).toEqual({ created: 0, updated: 0, unchanged: 1, failed: 0 });
      expect(results).toEqual([{ index: 0, [key]: one[key], id: before.id, outcome: 'unchanged', errors: [] }]);
    }
    expect(await stored(one)).toEqual(before);
  });

  test.each([
    ['no', { $unset: { updated_at: '' } }],
    ['a text as', { $set: { updated_at: '2026-01-01T00:00:00Z' } }],
  ])('changes a row to which another program gave %s updated_at, and the others of the call', async (_what, update) => {
    const [{ one }, { one: other }] = await Promise.all([make(), make()]);
    const { database } = gateway.databases.organisationData(organisation);
    const unchecked = { bypassDocumentValidation: true };
    await database.collection(list).updateOne({ [key]: one[key] }, update, unchecked);
    const changed = [one, other].map((element) => ({ ...element, name: 'Renamed' }));
    expect(await report(changed)).toMatchObject({ updated: 2, failed: 0 });
    expect(await stored(one)).toMatchObject({ name: 'Renamed', updated_at: expect.stringMatching(/Z$/) as unknown });
  });

  test('never moves updated_at backwards, whatever the clock says', async () => {
    const { one } = await make();
    const future = new Date(Date.now() + 3_600_000);
    const { database } = gateway.databases.organisationData(organisation);
    await database.collection(list).updateOne({ [key]: one[key] }, { $set: { updated_at: future } });
    expect((await report([{ ...one, name: 'Renamed' }])).updated).toBe(1);
    expect(await stored(one)).toMatchObject({ name: 'Renamed', updated_at: future.toISOString() });
  });

  test('reports each outcome in the order sent; of elements with the same key the first is stored and others fail', async () => {
    const [{ one: changed }, { one: same }] = await Promise.all([make(), make()]);
    const [fresh, bad] = [element(), element({ name: '' })];
    const again = { ...fresh, name: 'Second' };
    const sent = [bad, { ...changed, name: 'Renamed' }, fresh, same, again, again];
    const { results, ...counts } = await report(sent);
    expect(counts).toEqual({ created: 1, updated: 1, unchanged: 1, failed: 3 });
    const outcomes = ['failed', 'updated', 'created', 'unchanged', 'failed', 'failed'];
    expect(results).toMatchObject(outcomes.map((outcome, index) => ({ index, outcome, [key]: sent[index]![key] })));
    for (const at of [4, 5])
      expect(results[at].errors).toMatchObject([{ pointer: `/${list}/${String(at)}/${key}`, code: 'duplicate' }]);
    expect(await stored(fresh)).toMatchObject({ name: fresh.name });
  });

  test('fails only elements without a key or name, with a pointer for each error', async () => {
    const good = element();
    const { results } = await report([{}, { [key]: null, name: null }, { [key]: '', name: '' }, good]);
    const at = (index: number, member: string, code: string): Json => ({
      pointer: `/${list}/${String(index)}/${member}`,
      code,
    });
    const faults = results.map(({ errors }: Json) => errors.map(({ pointer, code }: Json) => ({ pointer, code })));
    expect(faults).toEqual([
      [at(0, key, 'required'), at(0, 'name', 'required')],
      [at(1, key, 'required'), at(1, 'name', 'required')],
      [at(2, key, 'length'), at(2, 'name', 'length')],
      [],
    ]);
    expect(results.map((result: Json) => [result[key], result.id === null])).toEqual([
      [null, true],
      [null, true],
      ['', true],
      [good[key], false],
    ]);
  });

  test('fails only an element with a lone surrogate, however often it is sent', async () => {
    for (const bad of [element({ [key]: `\ud800${newKey()}` }), element({ name: 'x\udfff' })]) {
      const good = element();
      const sent = await report([bad, good]);
      expect(sent.results).toMatchObject([{ outcome: 'failed', errors: [{ code: 'format' }] }, { outcome: 'created' }]);
      const again = await report([bad, good]);
      expect(again.results).toMatchObject([{ outcome: 'failed' }, { outcome: 'unchanged' }]);
    }
  });

  describe('as a dry run', () => {
    test('reports what would happen and stores nothing', async () => {
      const [{ one: changed, before }, { one: same, before: unchanged }] = await Promise.all([make(full), make()]);
      const fresh = element();
      const elements = [fresh, { ...changed, name: 'Renamed' }, same, element({ name: null })];
      const { results, ...counts } = await report(elements, { dry_run: true });
      expect(counts).toEqual({ created: 1, updated: 1, unchanged: 1, failed: 1 });
      expect(results.map(({ id, outcome }: Json) => ({ id, outcome }))).toEqual([
        { id: null, outcome: 'created' },
        { id: before.id, outcome: 'updated' },
        { id: unchanged.id, outcome: 'unchanged' },
        { id: null, outcome: 'failed' },
      ]);
      expect(await stored(fresh)).toBeUndefined();
      expect(await stored(changed)).toEqual(before);
    });

    test('of an invalid atomic call is rejected like the call itself', async () => {
      const { problem } = await call([element(), element({ name: '' })], { atomic: true, dry_run: true });
      expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
    });
  });

  describe('atomically', () => {
    test('stores everything if all elements are valid', async () => {
      const [one, other] = [element(), element(full)];
      expect(await report([one, other], { atomic: true })).toMatchObject({ created: 2, failed: 0 });
      expect(written(await stored(other))).toEqual(other);
    });

    test('stores nothing if any element is invalid, and lists all errors', async () => {
      const { one: changed, before } = await make();
      const fresh = element();
      const elements = [fresh, { ...changed, name: 'Renamed' }, { name: null }, element({ name: '' }), { ...fresh }];
      const { problem } = await call(elements, { atomic: true });
      expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
      const faults = problem!.errors.map(({ pointer, code }: Json) => `${String(code)} ${String(pointer)}`);
      expect(new Set(faults)).toEqual(
        new Set([
          `required /${list}/2/${key}`,
          `required /${list}/2/name`,
          `length /${list}/3/name`,
          `duplicate /${list}/4/${key}`,
        ]),
      );
      expect(await stored(fresh)).toBeUndefined();
      expect(await stored(changed)).toEqual(before);
    });
  });

  test.each([0, 1001])('rejects %i elements', async (length) => {
    const { problem } = await call(Array.from({ length }, () => element()));
    expect(problem).toMatchObject({
      status: 422,
      code: 'validation_failed',
      errors: [{ pointer: `/${list}`, code: 'length' }],
    });
  });
});

/* What costs the database the most does not depend on the API. */

describe.each(UPSERTS)('upserting many of $list', (kind) => {
  const { list, key } = kind;
  const { report, element } = upserting(kind, REST, () => caller);

  test('accepts 1,000 elements, and the same call again changes nothing', async () => {
    const elements = Array.from({ length: 1000 }, () => element());
    const first = await report(elements);
    expect(first).toMatchObject({ created: 1000, failed: 0 });
    expect(first.results.map((result: Json) => result[key])).toEqual(elements.map((element) => element[key]));
    const again = await report(elements);
    expect(again).toMatchObject({ unchanged: 1000, failed: 0 });
    expect(again.results.map(({ id }: Json) => id)).toEqual(first.results.map(({ id }: Json) => id));
  });

  test('stores one object per key when eight concurrent calls have the same new keys', async () => {
    const shared = Array.from({ length: 50 }, () => element());
    const calls = Array.from({ length: 8 }, (_none, at) => {
      const order = at % 2 === 0 ? shared : shared.toReversed();
      return report(order.map((one) => ({ ...one, name: `Call ${String(at)}` })));
    });
    const reports = await Promise.all(calls);
    const total = (outcome: string): number =>
      reports.reduce((sum: number, report) => sum + Number(report[outcome]), 0);
    expect([total('created'), total('updated') + total('unchanged'), total('failed')]).toEqual([50, 350, 0]);
    const { database } = gateway.databases.organisationData(organisation);
    for (const one of shared) {
      expect(await database.collection(list).countDocuments({ [key]: one[key] })).toBe(1);
    }
    const ids = reports.flatMap(({ results }) => results.map(({ id }: Json) => id));
    expect(new Set(ids).size).toBe(50);
  });
});
