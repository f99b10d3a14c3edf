import type { mongo } from 'mongoose';
import { createQuota } from '../../src/tenant/quota';

const organisation = { databaseName: 'org_1' } as mongo.Db;
const other = { databaseName: 'org_2' } as mongo.Db;
const AT_MOST = 1000;

let bytes: number;
const read = jest.fn(() => Promise.resolve(bytes));
beforeEach(() => {
  jest.useFakeTimers();
  read.mockClear();
  bytes = AT_MOST - 1;
});
afterEach(() => jest.useRealTimers());

const wait = (ms: number) => jest.advanceTimersByTimeAsync(ms);

test('an organisation is measured at most every ten seconds, beside its writes, and refused from the limit on', async () => {
  const quota = createQuota(AT_MOST, read);
  for (let write = 0; write < 100; write += 1) await quota.admit(organisation);
  await wait(9000);
  bytes = AT_MOST;
  await quota.admit(organisation);
  expect(read).toHaveBeenCalledTimes(1);
  await wait(2000);
  // this one begins the measurement and does not wait for it
  await quota.admit(organisation);
  await wait(0);
  const refused = { code: 'quota_exceeded', status: 422, detail: expect.stringContaining('1000 bytes') as unknown };
  await expect(quota.admit(organisation)).rejects.toMatchObject(refused);
  expect(read).toHaveBeenCalledTimes(2);
  expect(quota.state()).toEqual({ largest: AT_MOST, full: 1 });
});

test('nothing is refused because of an old measurement', async () => {
  const quota = createQuota(AT_MOST, read);
  bytes = AT_MOST;
  await quota.admit(organisation);
  await wait(0);
  await expect(quota.admit(organisation)).rejects.toThrow();
  bytes = 0;
  await wait(11_000);
  await expect(quota.admit(organisation)).resolves.toBeUndefined();
  expect(quota.state()).toEqual({ largest: 0, full: 0 });
});

test('an organisation that cannot be measured counts with its last size', async () => {
  const quota = createQuota(AT_MOST, read);
  read.mockRejectedValueOnce(new Error('away'));
  await quota.admit(other);
  await wait(11_000);
  bytes = AT_MOST;
  await quota.admit(other);
  await wait(11_000);
  read.mockRejectedValueOnce(new Error('away'));
  await expect(quota.admit(other)).rejects.toThrow();
});

test('a server that is slow to measure is asked correspondingly less often', async () => {
  read.mockImplementation(async () => {
    await new Promise((resolve) => setTimeout(resolve, 5000));
    return bytes;
  });
  const quota = createQuota(AT_MOST, read);
  await quota.admit(organisation);
  await wait(5000 + 99_000);
  await quota.admit(organisation);
  expect(read).toHaveBeenCalledTimes(1);
  await wait(2000);
  await quota.admit(organisation);
  await quota.admit(organisation);
  expect(read).toHaveBeenCalledTimes(2);
  await wait(5000);
});
