import mongoose from 'mongoose';
import { versionOf } from '../../clients/sync/src/source';

const { Timestamp } = mongoose.mongo;

test('a version grows with the time of a change and with its increment, and fits into 53 bits', () => {
  const at = (t: number, i: number): number => versionOf(new Timestamp({ t, i }));
  const all = [
    at(1, 1),
    at(1, 2),
    at(2, 0),
    at(1_795_000_000, 1),
    at(1_795_000_000, 2_097_151),
    at(1_795_000_001, 0),
    at(2 ** 32 - 1, 2 ** 32 - 1),
  ];
  expect(all).toEqual([...all].sort((one, other) => one - other));
  expect(new Set(all).size).toBe(all.length);
  expect(all.at(-1)).toBe(Number.MAX_SAFE_INTEGER);
});
