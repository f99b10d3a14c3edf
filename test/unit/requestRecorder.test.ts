import { createRequestRecorder, type RequestHead } from '../../src/organisations/requestRecorder';
import type { RequestRow } from '../../src/organisations/requestRows';

const DETAILS = {
  request_id: 'r',
  face: 'rest',
  method: 'GET',
  path: '/',
  ms: 1,
  address: '::1',
  reason: null,
} as const;
const details = () => DETAILS;
const OK = head({ status: 200, code: null, failed: false });
const FAILED = head({});

function head(members: Partial<RequestHead>): RequestHead {
  const usual = {
    organisation_id: 'o',
    key_id: 'k',
    operation: 'quotes',
    status: 404,
    code: 'not_found',
    failed: true,
  };
  return { ...usual, ...members };
}

describe('the recorder of requests', () => {
  let written: RequestRow[][];
  let trimmed: string[];
  let isAway: boolean;
  let refused: string[];
  const onLeftOut = jest.fn();
  const onError = jest.fn();
  const log = {
    add: (rows: readonly RequestRow[]) => {
      if (isAway) {
        refused.push(...rows.map(({ _id }) => _id));
        return Promise.reject(new Error('away'));
      }
      written.push(rows.map((row) => ({ ...row })));
      return Promise.resolve();
    },
    trim: (id: string) => {
      trimmed.push(id);
      return Promise.resolve();
    },
  };
  const recorderOf = (more: Partial<Parameters<typeof createRequestRecorder>[0]> = {}) =>
    createRequestRecorder({ log, onError, onLeftOut, random: () => 1, ...more });
  const rows = () => written.flat();

  beforeEach(() => {
    jest.useFakeTimers({ now: Date.parse('2026-11-23T10:00:00Z') });
    [written, trimmed, refused, isAway] = [[], [], [], false];
    onLeftOut.mockClear();
    onError.mockClear();
  });
  afterEach(() => jest.useRealTimers());

  test('writes pending rows every two seconds, each with its own id', async () => {
    const recorder = recorderOf();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(written).toEqual([]);
    recorder.add(OK, details);
    recorder.add(FAILED, details);
    await jest.advanceTimersByTimeAsync(1999);
    expect(written).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    const at = new Date('2026-11-23T10:00:10Z');
    const _id = expect.stringMatching(/^[0-9a-f-]{36}$/) as string;
    expect(rows()).toEqual([
      { _id, at, ...OK, ...DETAILS, similar: 0 },
      { _id, at, ...FAILED, ...DETAILS, similar: 0 },
    ]);
    expect(new Set(rows().map((row) => row._id)).size).toBe(2);
    await recorder.stop();
  });

  test('a key has 100 successful requests in a burst, then one a minute, and does no work for the others', async () => {
    const recorder = recorderOf();
    const made = jest.fn(details);
    for (let request = 0; request < 50_000; request += 1) recorder.add(OK, made);
    expect(made).toHaveBeenCalledTimes(100);
    recorder.add({ ...OK, organisation_id: 'other', key_id: 'k2' }, details);
    await jest.advanceTimersByTimeAsync(180_000);
    for (let request = 0; request < 50; request += 1) recorder.add(OK, made);
    await recorder.stop();
    expect(made).toHaveBeenCalledTimes(103);
    expect(rows()).toHaveLength(104);
    expect(onLeftOut).not.toHaveBeenCalled();
  });

  test('every failed request has a row or is counted in a similar one, until rows run out; the rest is counted', async () => {
    const recorder = recorderOf();
    for (let request = 0; request < 5000; request += 1) recorder.add(FAILED, details);
    // unlike any stored row: 20 more rows, then none
    for (let one = 0; one < 30; one += 1) recorder.add(head({ code: `code_${String(one)}` }), details);
    await jest.advanceTimersByTimeAsync(2000);
    expect(rows()).toHaveLength(620);
    expect(rows().reduce((sum, { similar }) => sum + similar + 1, 0)).toBe(5020);
    expect(rows()[599]).toMatchObject({ code: 'not_found', similar: 4400 });
    expect(onLeftOut.mock.calls).toEqual([[10]]);
    await recorder.stop();
  });

  test('a flood with one key leaves room for others, and the keys of an organisation have a limit together', async () => {
    const recorder = recorderOf();
    const flood = (key_id: string): void => {
      for (let request = 0; request < 5000; request += 1) {
        recorder.add(head({ key_id, operation: `operation_${String(request)}` }), details);
        recorder.add({ ...OK, key_id }, details);
      }
    };
    const countOf = (key_id: string, failed = true): number =>
      rows().filter((row) => row.key_id === key_id && row.failed === failed).length;
    flood('k');
    for (let one = 0; one < 10; one += 1) recorder.add(head({ key_id: 'k2', code: `code_${String(one)}` }), details);
    recorder.add({ ...OK, key_id: 'k2' }, details);
    for (const key_id of ['k3', 'k4', 'k5']) flood(key_id);
    await recorder.stop();
    expect([countOf('k'), countOf('k', false)]).toEqual([620, 100]);
    expect([countOf('k2'), countOf('k2', false)]).toEqual([10, 1]);
    expect(rows()).toHaveLength(900 + 30 + 150);
  });

  test('joins only requests of the same key, operation, status and code', async () => {
    const recorder = recorderOf();
    for (let request = 0; request < 600; request += 1) recorder.add(FAILED, details);
    for (let request = 0; request < 300; request += 1) recorder.add(head({ key_id: 'k2', code: 'other' }), details);
    const others = [head({ key_id: 'k2' }), head({ operation: null }), head({ status: 410 }), head({ code: null })];
    for (const other of others) for (let twice = 0; twice < 2; twice += 1) recorder.add(other, details);
    await recorder.stop();
    expect(rows().slice(900)).toEqual(others.map((other) => expect.objectContaining({ ...other, similar: 1 })));
  });

  test('a flood fills one batch and no more memory, and lost failures are counted', async () => {
    const recorder = recorderOf({ capacity: 50 });
    for (let organisation = 0; organisation < 100; organisation += 1) {
      const whose = { organisation_id: String(organisation), key_id: `k${String(organisation)}` };
      recorder.add({ ...FAILED, ...whose }, details);
      recorder.add({ ...OK, ...whose }, details);
    }
    await recorder.stop();
    expect(rows()).toHaveLength(50);
    expect(onLeftOut.mock.calls).toEqual([[75]]);
  });

  test('rows that could not be written are retried with the same ids, and the oldest are kept if there are too many', async () => {
    const recorder = recorderOf({ capacity: 4 });
    isAway = true;
    for (let request = 0; request < 3; request += 1) recorder.add({ ...FAILED, status: 400 + request }, details);
    await jest.advanceTimersByTimeAsync(2000);
    expect(onError).toHaveBeenCalledTimes(1);
    for (let request = 3; request < 6; request += 1) recorder.add({ ...FAILED, status: 400 + request }, details);
    isAway = false;
    await recorder.stop();
    expect(rows().map(({ status }) => status)).toEqual([400, 401, 402, 403]);
    // they may have been stored although the write failed
    expect(rows().map(({ _id }) => _id)).toEqual([...refused, expect.any(String)]);
    expect(onLeftOut.mock.calls).toEqual([[2]]);
  });

  test('is more likely to trim an organisation that wrote more', async () => {
    const recorder = recorderOf({ random: () => 0.5 });
    for (let request = 0; request < 300; request += 1) recorder.add({ ...FAILED, organisation_id: 'busy' }, details);
    for (let request = 0; request < 200; request += 1) recorder.add({ ...FAILED, organisation_id: 'quiet' }, details);
    await recorder.stop();
    expect(trimmed).toEqual(['busy']);
  });
});
