import mongoose from 'mongoose';
import type { Databases } from '../../src/tenant/databases';
import { createEventSource } from '../../src/events/source';
import type { WaitingCaller } from '../../src/events/waiting';

/* How far events are recorded, as one row of the database says. */

const NOW = Date.UTC(2026, 0, 1);
const { Timestamp } = mongoose.mongo;

function recordedAt(findOne: () => Promise<object | null>): Promise<unknown> {
  const client = {
    db: () => ({ collection: () => ({ findOne }) }),
    withSession: (work: (session: object) => unknown) => work({}),
  };
  const databases = { streams: () => Promise.resolve(client), now: () => NOW, control: { name: 'control' } };
  const waiting = { wait: () => undefined, follow: () => undefined };
  const source = createEventSource(databases as unknown as Databases, waiting as never);
  return source({} as WaitingCaller).recordedAt();
}

/** Times in seconds before now. */
const row = (leaseEnded: number, recorded: number, fault?: string): object => ({
  until: new Date(NOW - leaseEnded * 1000),
  at: new Timestamp({ t: NOW / 1000 - recorded, i: 0 }),
  ...(fault !== undefined && { fault }),
});

test.each<[string, () => Promise<object | null>, unknown]>([
  ['a gateway records', () => Promise.resolve(row(-5, 1)), { t: NOW / 1000 - 1 }],
  ['a gateway records, minutes late', () => Promise.resolve(row(-5, 300)), { t: NOW / 1000 - 300 }],
  ['it stopped half a minute ago', () => Promise.resolve(row(30, 30)), { t: NOW / 1000 - 30 }],
  ['it gave the lease back a moment ago', () => Promise.resolve(row(NOW / 1000, 1)), { t: NOW / 1000 - 1 }],
  ['it stopped two minutes ago', () => Promise.resolve(row(120, 120)), 'off'],
  ['the log cannot be read', () => Promise.resolve(row(-5, 1, 'no privilege')), 'off'],
  ['nobody ever recorded', () => Promise.resolve(null), 'off'],
  ['the row cannot be read', () => Promise.reject(new Error('away')), undefined],
])('what is recorded if %s', async (_title, stored, expected) => {
  const recorded = await recordedAt(stored);
  if (typeof expected === 'object') expect(recorded).toMatchObject(expected!);
  else expect(recorded).toBe(expected);
});
