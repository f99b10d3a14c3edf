import { createRequestRecorder, type RequestHead } from '../../src/organisations/requestRecorder';
import type { RequestRow } from '../../src/organisations/requestRows';

const DETAILS = {
  operation: 'quotes',
  status: 404,
  code: 'not_found',
  request_id: 'r',
  face: 'rest',
  method: 'GET',
  path: '/',
  ms: 1,
  address: '::1',
  reason: null,
} as const;
const details = () => DETAILS;
const FAILED: RequestHead = { organisation_id: 'o', key_id: 'k', failed: true };
const OK = { ...FAILED, failed: false };

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
    createRequestRecorder({ log, now: Date.now, onError, onLeftOut, ...more });
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
      { _id, at, ...OK, ...DETAILS },
      { _id, at, ...FAILED, ...DETAILS },
    ]);
    expect(new Set(rows().map((row) => row._id)).size).toBe(2);
    await recorder.stop();
  });

  test('a key has 100 failed and 10 successful requests a minute, and one in a hundred of the others, which cost no more', async () => {
    const recorder = recorderOf();
    const made = jest.fn(details);
    for (let request = 0; request < 1000; request += 1) recorder.add(OK, made);
    expect(made).toHaveBeenCalledTimes(10 + 10);
    for (let request = 0; request < 1000; request += 1) recorder.add(FAILED, made);
    expect(made).toHaveBeenCalledTimes(20 + 100 + 9);
    recorder.add({ ...OK, organisation_id: 'other', key_id: 'k2' }, details);
    await jest.advanceTimersByTimeAsync(60_000);
    for (let request = 0; request < 50; request += 1) recorder.add(OK, made);
    await recorder.stop();
    expect(rows()).toHaveLength(20 + 109 + 1 + 10);
    // failed ones only
    expect(onLeftOut.mock.calls).toEqual([[891]]);
  });

  test('a flood with one key leaves room for others, and the keys of an organisation have a limit together', async () => {
    const recorder = recorderOf();
    const flood = (key_id: string): void => {
      for (let request = 0; request < 5000; request += 1) recorder.add({ ...FAILED, key_id }, details);
    };
    const countOf = (key_id: string): number => rows().filter((row) => row.key_id === key_id).length;
    flood('k');
    for (let one = 0; one < 10; one += 1) recorder.add({ ...FAILED, key_id: 'k2' }, details);
    for (let key = 3; key < 13; key += 1) flood(`k${String(key)}`);
    await recorder.stop();
    expect(countOf('k')).toBe(100 + 49);
    expect(countOf('k2')).toBe(10);
    // 500 of the organisation, of which a key's hundredth is one in a hundred anyway
    expect(rows().length).toBeLessThanOrEqual(500 + 11 * 50);
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
    for (let request = 0; request < 3; request += 1)
      recorder.add(FAILED, () => ({ ...DETAILS, status: 400 + request }));
    await jest.advanceTimersByTimeAsync(2000);
    expect(onError).toHaveBeenCalledTimes(1);
    for (let request = 3; request < 6; request += 1)
      recorder.add(FAILED, () => ({ ...DETAILS, status: 400 + request }));
    isAway = false;
    await recorder.stop();
    expect(rows().map(({ status }) => status)).toEqual([400, 401, 402, 403]);
    // they may have been stored although the write failed
    expect(rows().map(({ _id }) => _id)).toEqual([...refused, expect.any(String)]);
    expect(onLeftOut.mock.calls).toEqual([[2]]);
  });

  test('of rows for which a failed write leaves no room, only failed ones are counted', async () => {
    let isFirst = true;
    const add = (rows: readonly RequestRow[]): Promise<void> => {
      if (!isFirst) return log.add(rows);
      isFirst = false;
      // the batch fills up meanwhile
      for (let request = 0; request < 3; request += 1) recorder.add(FAILED, details);
      return Promise.reject(new Error('away'));
    };
    const recorder = recorderOf({ capacity: 4, log: { ...log, add } });
    for (const one of [FAILED, OK, FAILED, OK]) recorder.add(one, details);
    await jest.advanceTimersByTimeAsync(4000);
    expect(rows()).toHaveLength(4);
    expect(onLeftOut.mock.calls).toEqual([[1]]);
    await recorder.stop();
  });

  test('trims an organisation after each 500 rows', async () => {
    const recorder = recorderOf();
    for (let minute = 0; minute < 10; minute += 1) {
      for (let request = 0; request < 99; request += 1) recorder.add(FAILED, details);
      recorder.add({ ...FAILED, organisation_id: 'quiet', key_id: 'other' }, details);
      await jest.advanceTimersByTimeAsync(60_000);
      expect(trimmed).toEqual(minute < 5 ? [] : ['o']);
    }
    await recorder.stop();
  });
});
