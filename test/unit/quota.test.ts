import type { mongo } from 'mongoose';
import { createQuota } from '../../src/tenant/quota';

const organisation = { databaseName: 'org_1' } as mongo.Db;
const other = { databaseName: 'org_2' } as mongo.Db;
const AT_MOST = 1000;

let bytes: number;
let most: number | null;
const read = jest.fn(() => Promise.resolve(bytes));
const onFailure = jest.fn();
beforeEach(() => {
  jest.useFakeTimers();
  read.mockReset().mockImplementation(() => Promise.resolve(bytes));
  onFailure.mockClear();
  bytes = AT_MOST - 1;
  most = AT_MOST;
});
afterEach(() => jest.useRealTimers());

const wait = (ms: number) => jest.advanceTimersByTimeAsync(ms);

test('an organisation is measured at most every ten seconds, beside its writes, and refused from the limit on', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  for (let write = 0; write < 100; write += 1) await quota.admit(organisation, 'growth');
  await wait(9000);
  bytes = AT_MOST;
  await quota.admit(organisation, 'growth');
  expect(read).toHaveBeenCalledTimes(1);
  await wait(2000);
  // this one begins the measurement and does not wait for it
  await quota.admit(organisation, 'growth');
  await wait(0);
  const refused = { code: 'quota_exceeded', status: 422, detail: expect.stringContaining('1000 bytes') as unknown };
  await expect(quota.admit(organisation, 'growth')).rejects.toMatchObject(refused);
  expect(read).toHaveBeenCalledTimes(2);
  expect(quota.state()).toEqual({ largest: AT_MOST, fullest: 1, full: 1 });
});

test('another limit applies at once, and without one nothing is measured', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  most = null;
  await quota.admit(organisation, 'growth');
  expect(read).not.toHaveBeenCalled();
  most = AT_MOST;
  await quota.admit(organisation, 'growth');
  await wait(0);
  most = bytes;
  await expect(quota.admit(organisation, 'growth')).rejects.toMatchObject({ code: 'quota_exceeded' });
  most = 2 * bytes;
  await expect(quota.admit(organisation, 'growth')).resolves.toBeUndefined();
  expect(quota.state()).toEqual({ largest: bytes, fullest: 0.5, full: 0 });
  most = null;
  await quota.admit(organisation, 'growth');
  expect(quota.state()).toEqual({ largest: 0, fullest: 0, full: 0 });
  // also while it is measured
  most = bytes;
  await quota.admit(organisation, 'growth');
  most = null;
  await quota.admit(organisation, 'growth');
  await wait(0);
  expect(quota.state()).toEqual({ largest: 0, fullest: 0, full: 0 });
});

test('nothing is refused because of an old measurement', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  bytes = AT_MOST;
  await quota.admit(organisation, 'growth');
  await wait(0);
  await expect(quota.admit(organisation, 'growth')).rejects.toThrow();
  bytes = 0;
  await wait(11_000);
  await expect(quota.admit(organisation, 'growth')).resolves.toBeUndefined();
  expect(quota.state()).toEqual({ largest: 0, fullest: 0, full: 0 });
  bytes = AT_MOST;
  await wait(11_000);
  await quota.admit(organisation, 'growth');
  await wait(0);
  expect(quota.state().full).toBe(1);
  // it may have been erased
  await wait(25 * 3_600_000);
  expect(quota.state()).toEqual({ largest: 0, fullest: 0, full: 0 });
});

test('an organisation that cannot be measured counts with its last size', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  read.mockRejectedValueOnce(new Error('away'));
  await quota.admit(other, 'growth');
  await wait(11_000);
  bytes = AT_MOST;
  await quota.admit(other, 'growth');
  await wait(11_000);
  read.mockRejectedValueOnce(new Error('away'));
  await expect(quota.admit(other, 'growth')).rejects.toThrow();
  expect(onFailure.mock.calls).toEqual([
    ['org_2', new Error('away')],
    ['org_2', new Error('away')],
  ]);
});

test('a size from before rows were deleted refuses nothing, though it cannot be measured again', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  const write = () => quota.admit(organisation, 'growth');
  bytes = AT_MOST;
  await write();
  await wait(1);
  await expect(write()).rejects.toThrow('1000 bytes');
  quota.noteDeletion(organisation);
  read.mockRejectedValueOnce(new Error('away'));
  // nor is it measured more often than otherwise
  for (let time = 0; time < 3; time += 1) await write();
  expect(read).toHaveBeenCalledTimes(2);
  await wait(11_000);
  await expect(write()).rejects.toThrow('1000 bytes');
});

test('a measurement that had begun before rows were deleted refuses nothing', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  slow();
  bytes = AT_MOST;
  void quota.admit(organisation, 'growth');
  quota.noteDeletion(organisation);
  const write = quota.admit(organisation, 'growth', 1);
  // when it is measured once more
  setTimeout(() => (bytes = 0), 7000);
  await wait(10_000);
  await expect(write).resolves.toBeUndefined();
  expect(read).toHaveBeenCalledTimes(2);
});

test('deletions do not switch it off: a measurement that begins after a write refuses it though rows are deleted meanwhile, unless it fails', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  slow();
  bytes = AT_MOST;
  const deleting = setInterval(() => {
    quota.noteDeletion(organisation);
  }, 1000);
  const write = quota.admit(organisation, 'growth', 1);
  await Promise.all([expect(write).rejects.toThrow('1000 bytes'), wait(10_000)]);
  expect(read).toHaveBeenCalledTimes(1);
  read.mockRejectedValueOnce(new Error('away'));
  const another = quota.admit(organisation, 'growth');
  await wait(5000);
  clearInterval(deleting);
  await expect(another).resolves.toBeUndefined();
  expect(read).toHaveBeenCalledTimes(2);
});

test('below the limit, deletions have it measured no more often', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  bytes = 10;
  for (let time = 0; time < 5; time += 1) {
    await quota.admit(organisation, 'growth', 1);
    quota.noteDeletion(organisation);
  }
  expect(read).toHaveBeenCalledTimes(1);
});

test('files alone refuse nothing while the size was never known', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  read.mockRejectedValue(new Error('away'));
  for (let file = 0; file < 10; file += 1) await quota.admit(organisation, 'growth', 300);
  expect(quota.state()).toEqual({ largest: 0, fullest: 0, full: 0 });
});

test('files count at once: a burst passes the limit by one at most, and one that was not stored refuses nothing', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  const FILE = 300;
  const upload = () => quota.admit(organisation, 'growth', FILE);
  bytes = AT_MOST;
  // its size is not known yet: it is waited for
  await expect(upload()).rejects.toThrow('1000 bytes');
  bytes = 200;
  await wait(11_000);
  for (let stored = 0; stored < 3; stored += 1) {
    await upload();
    bytes += FILE;
  }
  expect(quota.state()).toEqual({ largest: 1100, fullest: 1.1, full: 1 });
  await expect(upload()).rejects.toThrow('1100 bytes');
  bytes = 200;
  await wait(11_000);
  for (let failed = 0; failed < 12; failed += 1) await upload();
});

/** Has measuring take five seconds. */
const slow = () =>
  read.mockImplementation(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5000));
    return bytes;
  });

test('files that were not stored have it measured no more often than a server takes for it', async () => {
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  slow();
  const upload = () => quota.admit(organisation, 'growth', 300);
  bytes = 800;
  const first = upload();
  await wait(5000);
  await first;
  for (let refused = 0; refused < 10; refused += 1) await expect(upload()).rejects.toThrow('1100 bytes');
  expect(read).toHaveBeenCalledTimes(1);
  await wait(100_000);
  const later = upload();
  await wait(5000);
  await later;
  expect(read).toHaveBeenCalledTimes(2);
});

test('a server that is slow to measure is asked correspondingly less often', async () => {
  slow();
  const quota = createQuota({ mostOf: () => most, read, onFailure });
  await quota.admit(organisation, 'growth');
  await wait(5000 + 99_000);
  await quota.admit(organisation, 'growth');
  expect(read).toHaveBeenCalledTimes(1);
  await wait(2000);
  await quota.admit(organisation, 'growth');
  await quota.admit(organisation, 'growth');
  expect(read).toHaveBeenCalledTimes(2);
  await wait(5000);
});
