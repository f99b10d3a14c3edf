import type { RequestContext } from '../../src/operations/context';
import { admitChanges, noteChanges } from '../../src/stored/unrecorded';

type Data = RequestContext['data'];
const dataOf = (): Data => ({ now: () => Date.now() }) as unknown as Data;
const from = (recorded: number | undefined) =>
  ({ recordingAt: () => Promise.resolve(recorded) }) as unknown as NonNullable<RequestContext['events']>;
const LATER = Date.now() + 3_600_000;
const EARLIER = Date.now() - 60_000;

test('an organisation may be 20,000 changes ahead of the recording of its events, and then waits for it', async () => {
  const data = dataOf();
  for (let call = 0; call < 20; call += 1) {
    await expect(admitChanges({ data, events: from(EARLIER) })).resolves.toBeUndefined();
    noteChanges(data, 1000);
  }
  const refused = admitChanges({ data, events: from(EARLIER) });
  await expect(refused).rejects.toMatchObject({ code: 'unavailable', status: 503, extras: { retryAfter: 2 } });
  await expect(admitChanges({ data: dataOf(), events: from(EARLIER) })).resolves.toBeUndefined();
  await expect(admitChanges({ data, events: from(LATER) })).resolves.toBeUndefined();
  // which were recorded meanwhile
  await expect(admitChanges({ data, events: from(EARLIER) })).resolves.toBeUndefined();
});

test.each([
  ['nobody records events', from(undefined)],
  ['it has none', undefined],
])('and never where %s', async (_title, events) => {
  const data = dataOf();
  for (let call = 0; call < 30; call += 1) {
    await admitChanges({ data, events });
    noteChanges(data, 1000);
  }
});
