import mongoose from 'mongoose';
import type * as Servers from '../../src/cli/doctor/servers';
import { doctorCommand } from '../../src/cli/doctor/command';

/* A database that goes away while `doctor` examines it. */

let mockAway: 'at once' | 'later';

jest.mock('../../src/cli/doctor/servers', () => {
  const actual = jest.requireActual<typeof Servers>('../../src/cli/doctor/servers');
  return {
    ...actual,
    async *checkDatabase(store: Parameters<typeof actual.checkDatabase>[0]) {
      if (mockAway === 'at once') yield await Promise.resolve({ name: 'database', ok: false, detail: 'away' });
      else yield* actual.checkDatabase(store);
    },
  };
});
jest.mock('../../src/cli/doctor/storage', () => ({
  ...jest.requireActual<object>('../../src/cli/doctor/storage'),
  checkStored: () => {
    throw new mongoose.mongo.MongoNetworkError('connection closed');
  },
}));

beforeAll(() => {
  process.env.MONGODB_URI = process.env.TEST_MONGODB_URI;
  process.env.CONTROL_DATABASE = 'scopegate_doctor_away';
});
test.each([
  ['at once', [false]],
  ['later', [true, false]],
] as const)('if it is away %s, that is the last check, and all are printed', async (when, results) => {
  mockAway = when;
  const printed: string[] = [];
  const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
  await expect(doctorCommand({ json: true })).rejects.toThrow('checks failed');
  write.mockRestore();
  const { checks } = JSON.parse(printed.join('')) as { checks: { name: string; ok: boolean }[] };
  expect(checks.filter(({ name }) => name === 'database').map(({ ok }) => ok)).toEqual(results);
  expect(checks.at(-1)).toMatchObject({ name: 'database', ok: false });
});
