import type { mongo } from 'mongoose';
import { AppError } from '../../src/errors';
import { cursorOfLog, type DeploymentFeed } from '../../src/events/deploymentFeed';
import { createOperatorFeed, type ParkedRow } from '../../src/webhooks/operatorFeed';

test('the gap after lost history reaches to the end of the read that finds where to go on', async () => {
  let now = Date.UTC(2026, 0, 1);
  const next = { token: { _data: 'BB' } };
  const log = {
    read(from: unknown) {
      if (from) return Promise.reject(new AppError('cursor_expired', 'gone'));
      // an event that comes meanwhile is before `next`
      now += 200;
      return Promise.resolve({ events: [], hasMore: false, next });
    },
  } as unknown as DeploymentFeed;
  const onLost = jest.fn();
  const rows = {} as mongo.Collection<ParkedRow>;
  const feed = createOperatorFeed({ log, rows, byIds: () => Promise.resolve(new Map()), now: () => now, onLost });
  const position = cursorOfLog({ token: { _data: 'AA' } });
  const { entries } = await feed.next({ position } as never, 10);
  expect(entries.map(({ shown }) => (shown as unknown as { gap: { to: Date } }).gap.to)).toEqual([new Date(now)]);
  expect(onLost).toHaveBeenCalledTimes(1);
});
