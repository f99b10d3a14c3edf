import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../src/auth/principal';
import { events } from '../../src/events/collection';
import { eventId, positionOf, timeDigits } from '../../src/events/position';
import { deliveriesOf, deliveryId, type DeliveryRow } from '../../src/webhooks/deliveries';
import type { TestGateway } from '../support/gateway';

/* Stores deliveries directly, without waiting hours for them. */

const STATES: readonly DeliveryRow['state'][] = ['delivered', 'delivered', 'failed', 'held', 'skipped'];

/** Distinguishes events of the same second. */
let calls = 0;

/** Stores deliveries, the last of which was delivered at its second attempt, and its event; resolves with that one's id, object and position. */
export async function someDeliveries(
  gateway: TestGateway,
  of: Organisation,
  endpoint: string,
  count: number,
  states = STATES,
): Promise<{ id: string; object: string; position: string }> {
  const data = gateway.databases.organisationData(of);
  calls += 1;
  const second = Math.floor(Date.now() / 1000);
  const rows = Array.from({ length: count }, (_, at): DeliveryRow => {
    const before = count - 1 - at;
    const time = new Date((second - before * 60) * 1000);
    const position = positionOf(0, timeDigits({ t: second - before * 60, i: 1 }), calls);
    const attempt = { at: time, ok: false, status: 503, error: 'the answer was 503', answer: null, ms: 12 };
    const state = before === 0 ? 'delivered' : states[before % states.length]!;
    const last = { ...attempt, ok: true, status: 200, error: null, answer: 'so full', ms: 7 };
    return {
      ...{ _id: deliveryId(endpoint, position), endpoint_id: endpoint, event_id: eventId(of.id, position) },
      ...{ type: 'quote.created', object_id: randomUUID(), at: time, state },
      next_at: state === 'waiting' ? time : null,
      attempts: before % STATES.length === 3 ? 0 : 2,
      log: before % STATES.length === 3 ? [] : [attempt, last],
    };
  });
  await deliveriesOf(data).save(rows);
  const newest = rows.at(-1)!;
  const position = newest._id.slice(endpoint.length + 1);
  const object = newest.object_id!;
  await data.prepare([events]);
  await data.collection(events).insertMany([
    {
      ...{ _id: position, type: newest.type, at: newest.at, object: { type: 'quote', id: object } },
      ...{ changes: [], status: 'draft' },
    },
  ]);
  return { id: newest.event_id, object, position };
}
