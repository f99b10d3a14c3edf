import { randomUUID } from 'node:crypto';
import { positionOf, timeDigits } from '../../../src/events/position';
import { DAY, HOUR } from '../../../src/units';
import { deliveryId, type DeliveryRow, webhookDeliveries } from '../../../src/webhooks/deliveries';
import { ENVIRONMENT } from '../../api/webhooks/office';
import { served } from '../../support/gateway';
import { withEndpoints } from './rows';

const gateway = served(ENVIRONMENT);
let made = 0;

interface Outcome {
  readonly status?: number | null;
  readonly error?: string;
  readonly ms?: number;
  readonly state?: DeliveryRow['state'];
  /** When its event happened, and when it began, in milliseconds before now. */
  readonly event?: number;
  readonly began?: number;
}

/** A delivery as it is stored after its last attempt; without a status and an error, before the first. */
function delivery(
  endpoint: string,
  { status, error, ms = 5, state = 'waiting', event = 0, began = 0 }: Outcome,
): DeliveryRow {
  made += 1;
  const second = Math.floor((Date.now() - event) / 1000);
  const at = new Date(Date.now() - began);
  const attempt = { at, ok: false, status: 503, error: 'HTTP 503', answer: 'busy', ms: 1 };
  const last = { ...attempt, ok: error === undefined, status: status ?? null, error: error ?? null, ms };
  return {
    _id: deliveryId(endpoint, positionOf(0, timeDigits({ t: second, i: made }), 0)),
    endpoint_id: endpoint,
    event_id: randomUUID(),
    type: 'quote.created',
    object_id: randomUUID(),
    attempts: 2,
    next_at: null,
    at,
    state,
    log: status === undefined ? [] : [attempt, last],
  };
}

test('deliveries are counted by the outcome of their last attempt and by when they began, and read by id', async () => {
  const { of, admin, ids } = await withEndpoints(gateway, 'https://example.com/a', 'https://example.com/b');
  const [id = '', other = ''] = ids;
  const rows = gateway.databases.organisationData(of).collection(webhookDeliveries);
  const failed = { status: 500, error: 'HTTP 500' } as const;
  const stored = [
    ...[10, 90, 20].map((ms) => delivery(id, { status: 200, ms, state: 'delivered' })),
    // accepted when it was sent again by hand, which leaves the state
    delivery(id, { status: 204, ms: 30, state: 'failed' }),
    delivery(id, failed),
    delivery(id, { ...failed, began: 2 * HOUR, state: 'failed' }),
    delivery(id, { status: null, error: 'no answer within 15 s' }),
    // what an endpoint gets late has an old event
    delivery(id, { status: 200, ms: 40, state: 'delivered', event: 20 * DAY }),
    delivery(id, { ...failed, event: 2 * DAY, began: 2 * DAY }),
    delivery(id, { state: 'held' }),
  ];
  await rows.insertMany(stored);
  const statistics = async (args: object) => (await admin('webhook_statistics', { period: 'last_24h', ...args })).data;
  const [one] = await statistics({ webhook_id: id.toUpperCase() });
  expect(one).toMatchObject({ webhook_id: id, delivered: 5, failed: 3, counted_since: null, p50_ms: 30 });
  expect(one.errors).toMatchObject([
    { status: 500, error: 'HTTP 500', deliveries: 2 },
    { status: null, error: 'no answer within 15 s', deliveries: 1 },
  ]);
  expect(one.buckets).toHaveLength(24);
  const bucketOf = ({ at }: DeliveryRow): unknown =>
    one.buckets.find(({ start }: { start: string }) => Date.parse(start) === Math.floor(at.getTime() / HOUR) * HOUR);
  expect(bucketOf(stored[5]!)).toMatchObject({ delivered: 0, failed: 1 });
  expect(bucketOf(stored[0]!)).toMatchObject({ delivered: 5, failed: 2 });
  const [week] = await statistics({ webhook_id: id, period: 'last_7d' });
  expect([week.delivered, week.failed, week.buckets.length]).toEqual([5, 4, 7]);
  const none = { webhook_id: other, delivered: 0, failed: 0, p50_ms: null, errors: [] };
  expect(await statistics({})).toMatchObject([{ webhook_id: id, delivered: 5 }, none]);

  const { _id: first } = stored[0]!;
  const read = { webhook_id: id, delivery: first };
  expect(await admin('webhook_delivery', read)).toMatchObject({ id: first, state: 'delivered', log: [{}, { ms: 10 }] });
  for (const wrong of [{ webhook_id: other }, { delivery: `${id}.${'0'.repeat(28)}` }])
    expect(await admin('webhook_delivery', { ...read, ...wrong })).toMatchObject({ code: 'not_found' });

  // a busy endpoint: the newest are counted, and it is said since when
  const busy = Array.from({ length: 1001 }, (_, at) =>
    delivery(other, { status: 200, state: 'delivered', event: (1001 - at) * 10_000, began: (1001 - at) * 10_000 }),
  );
  await rows.insertMany(busy);
  expect((await statistics({}))[1]).toMatchObject({ delivered: 1000, counted_since: busy[1]!.at.toISOString() });
  expect((await statistics({ webhook_id: other }))[0]).toMatchObject({ delivered: 1001, counted_since: null });
});
