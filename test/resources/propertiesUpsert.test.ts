import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import type { Json } from '../support/client';
import { callerOf } from '../support/factories';
import { REST } from '../support/faces';
import { late, served } from '../support/gateway';
import { type Upsert, UPSERTS, upserting, written } from '../support/upserts';

fc.configureGlobal({ seed: 20261121 });

/** Sequences of calls per kind, calls per sequence, elements per call, and number of keys. */
const [RUNS, CALLS, ELEMENTS, KEYS] = [15, 6, 6, 4];

let runs = 0;

const gateway = served();
const caller = late(() => callerOf(gateway));

interface Call {
  /** Elements with a number as key; undefined members are omitted. */
  readonly elements: readonly Json[];
  readonly options: { readonly atomic?: boolean; readonly dry_run?: boolean };
}

/** The expected result of an element. */
interface Expected {
  readonly outcome: 'created' | 'updated' | 'unchanged' | 'failed';
  readonly row?: Json;
}

describe.each(UPSERTS)('bulk upserts of $list', (kind) => {
  const { list, key, full, cleared } = kind;
  const { call } = upserting(kind, REST, () => caller);

  test('behave like a map: outcomes, counts, stored rows and timestamps', async () => {
    const calls = fc.array(callOf(kind), { minLength: 1, maxLength: CALLS });
    await fc.assert(
      fc.asyncProperty(calls, async (sequence) => {
        const run = (runs += 1);
        const model = new Map<unknown, Json>();
        for (const { elements, options } of sequence) {
          const sent = elements.map((element) => ({ ...element, ...keyOf(element, run) }));
          const expected = expectedOf(sent, model);
          const isRefused = options.atomic === true && expected.some(({ outcome }) => outcome === 'failed');
          const before = await storedRows(model);
          const { data, problem } = await call(sent, options);
          if (isRefused) {
            expect(problem).toMatchObject({ status: 422, code: 'validation_failed' });
          } else {
            expectReport(data, sent, expected, options.dry_run === true);
          }
          if (!isRefused && options.dry_run !== true) {
            for (const { row } of expected) if (row) model.set(row[key], row);
          }
          await expectStored(model, before);
        }
      }),
      { numRuns: RUNS },
    );
  });

  function keyOf(element: Json, run: number): Json {
    return key in element ? { [key]: `RUN${String(run)}-${String(element[key])}` } : {};
  }

  function expectedOf(elements: readonly Json[], model: ReadonlyMap<unknown, Json>): Expected[] {
    const seen = new Set<unknown>();
    return elements.map((element) => {
      const isRepeated = key in element && seen.has(element[key]);
      if (key in element) seen.add(element[key]);
      const existing = model.get(element[key]);
      const name = element.name ?? existing?.name;
      if (isRepeated || !(key in element) || !name || element.name === '') return { outcome: 'failed' };
      const members = Object.keys(full).map((member) => [member, memberOf(element, existing, member)]);
      const row = { [key]: element[key], name, ...Object.fromEntries(members) };
      if (!existing) return { outcome: 'created', row };
      return { outcome: isDeepStrictEqual(existing, row) ? 'unchanged' : 'updated', row };
    });
  }

  /** An omitted member keeps its value or has its default; null clears it. */
  function memberOf(element: Json, existing: Json, member: string): Json {
    if (element[member] === undefined) return existing ? existing[member] : cleared[member];
    return element[member] ?? cleared[member];
  }

  function expectReport(report: Json, sent: readonly Json[], expected: readonly Expected[], dryRun: boolean): void {
    const count = (outcome: string): number => expected.filter((one) => one.outcome === outcome).length;
    expect(report).toMatchObject({
      ...{ created: count('created'), updated: count('updated') },
      ...{ unchanged: count('unchanged'), failed: count('failed') },
    });
    expect(report.results.map(({ index, outcome }: Json) => ({ index, outcome }))).toEqual(
      expected.map(({ outcome }, index) => ({ index, outcome })),
    );
    report.results.forEach((result: Json, at: number) => {
      const { outcome } = expected[at]!;
      expect(result[key]).toBe(sent[at][key] ?? null);
      expect(result.id === null).toBe(outcome === 'failed' || (dryRun && outcome === 'created'));
      expect(result.errors.length > 0).toBe(outcome === 'failed');
    });
  }

  async function storedRows(model: ReadonlyMap<unknown, Json>): Promise<Map<unknown, Json>> {
    const rows = new Map<unknown, Json>();
    for (const value of model.keys()) rows.set(value, (await caller.get(`/${list}`, { [key]: value })).body.data[0]);
    return rows;
  }

  /** Expects the database to match the model, with the ids and timestamps of unchanged rows. */
  async function expectStored(model: ReadonlyMap<unknown, Json>, before: ReadonlyMap<unknown, Json>): Promise<void> {
    for (const [value, row] of await storedRows(model)) {
      const [expected, earlier] = [model.get(value), before.get(value)];
      expect(written(row)).toEqual(expected);
      if (!earlier) continue;
      expect([row.id, row.created_at]).toEqual([earlier.id, earlier.created_at]);
      const isSame = isDeepStrictEqual(written(earlier), expected);
      if (isSame) expect(row.updated_at).toBe(earlier.updated_at);
      else expect(row.updated_at >= earlier.updated_at).toBe(true);
    }
  }
});

function callOf(kind: Upsert): fc.Arbitrary<Call> {
  return fc.record({
    elements: fc.array(elementOf(kind), { minLength: 1, maxLength: ELEMENTS }),
    options: fc.record(
      { atomic: fc.boolean(), dry_run: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, fc.constant(true)) },
      { requiredKeys: [] },
    ),
  });
}

/** An element: usually with a key and a name, every other member omitted, null, or one of two values. */
function elementOf({ key, full }: Upsert): fc.Arbitrary<Json> {
  const members = Object.entries<Json>(full).map(([member, value]) => [
    member,
    fc.constantFrom(undefined, null, value, another(member, value)),
  ]);
  const present = fc.record({
    [key]: fc.oneof({ weight: 12, arbitrary: fc.nat({ max: KEYS - 1 }) }, fc.constant(undefined)),
    name: fc.oneof({ weight: 12, arbitrary: fc.constantFrom('Hex bolt', 'Washer') }, fc.constantFrom('', undefined)),
    ...Object.fromEntries(members),
  });
  return present.map((element) =>
    Object.fromEntries(Object.entries(element).filter(([, value]) => value !== undefined)),
  );
}

/** A different value for the same member. */
function another(member: string, value: Json): Json {
  if (member === 'currency') return 'GBP';
  if (member === 'email') return 'second@mill.example';
  if (typeof value === 'boolean') return !value;
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value} 2`;
  return Array.isArray(value) ? [...value, { ...value[0], name: 'Bo Ek' }] : { ...value, city: 'York' };
}
