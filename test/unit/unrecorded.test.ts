import mongoose from 'mongoose';
import type { DataContext } from '../../src/operations/context';
import { runAdmitted } from '../../src/stored/unrecorded';

type Data = DataContext['data'];
type Events = DataContext['events'];

const at = (t: number): InstanceType<typeof mongoose.mongo.Timestamp> => new mongoose.mongo.Timestamp({ t, i: 1 });
const recorded = (t: number | 'off' | undefined): Events =>
  ({ recordedAt: () => Promise.resolve(typeof t === 'number' ? at(t) : t) }) as unknown as Events;

/** Organisations of one database, and calls of 1,000 changes. */
function scene() {
  const client = {};
  const call = (organisationId: string, time: number, events = recorded('off')): Promise<string> => {
    const data = { organisationId, client } as unknown as Data;
    return runAdmitted({ data, events }, 1000, (onCommitted) => {
      onCommitted(1000, at(time));
      return Promise.resolve('stored');
    });
  };
  /** How many calls in a row are admitted. */
  async function admittedOf(organisation: string): Promise<number> {
    for (let calls = 0; ; calls += 1)
      if ((await call(organisation, 5, recorded(0)).catch((error: unknown) => error)) !== 'stored') return calls;
  }
  return { client, call, admittedOf };
}

test('an organisation may have 4,000 unrecorded changes, and then waits for the recording', async () => {
  const { call, admittedOf } = scene();
  expect(await admittedOf('a')).toBe(4);
  const refused = { code: 'unavailable', status: 503, extras: { retryAfter: 1, reason: 'not_recorded' } };
  await expect(call('a', 5, recorded(0))).rejects.toMatchObject(refused);
  await expect(call('a', 5, recorded(4))).rejects.toMatchObject(refused);
  await expect(call('a', 5, recorded(5))).resolves.toBe('stored');
  expect(await admittedOf('a')).toBe(3);
});

test('several organisations share what may wait, and one of which nothing waits is always admitted', async () => {
  const { admittedOf } = scene();
  const counts: number[] = [];
  for (const organisation of 'abcdefgh') counts.push(await admittedOf(organisation));
  expect(counts).toEqual([4, 2, 1, 1, 1, 1, 1, 1]);
});

test('calls in progress count, and those that fail or change nothing do not', async () => {
  const { client, admittedOf } = scene();
  const data = { organisationId: 'a', client } as unknown as Data;
  let end = (): void => undefined;
  const running = runAdmitted(
    { data, events: recorded(0) },
    3000,
    (onCommitted) =>
      new Promise<void>((resolve) => {
        end = () => {
          onCommitted(0, at(5));
          resolve();
        };
      }),
  );
  expect(await admittedOf('a')).toBe(1);
  end();
  await running;
  await expect(
    runAdmitted({ data, events: recorded(0) }, 1000, () => Promise.reject(new Error('failed'))),
  ).rejects.toThrow('failed');
  expect(await admittedOf('a')).toBe(3);
});

test('and nothing is refused where nobody records events', async () => {
  const { call } = scene();
  for (let time = 0; time < 30; time += 1) await expect(call('a', time, recorded('off'))).resolves.toBe('stored');
});

test('while it is unknown how far events are recorded, what waits goes on waiting', async () => {
  const { call, admittedOf } = scene();
  expect(await admittedOf('a')).toBe(4);
  await expect(call('a', 5, recorded(undefined))).rejects.toMatchObject({ extras: { reason: 'not_recorded' } });
});
