import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../../src/auth/principal';
import { events } from '../../../src/events/collection';
import { eventId, positionOf, timeDigits } from '../../../src/events/position';
import type { RequestRow } from '../../../src/organisations/requestRows';
import { type FinishedRequest, pathsOf } from '../../../src/organisations/usageDetails';
import { createDeliveries, deliveryId, type DeliveryRow } from '../../../src/webhooks/deliveries';
import type { TestGateway } from '../../support/gateway';
import { type Call, officeOf } from '../../api/webhooks/office';

/* Stores what would take long to make by requests: deliveries, requests and usage. */

/** What most rows have. */
export const USUAL_ROW: Pick<
  RequestRow,
  'face' | 'method' | 'path' | 'operation' | 'status' | 'code' | 'reason' | 'missing_scope' | 'ms' | 'address'
> = {
  face: 'rest',
  method: 'GET',
  path: '/api/v1/quotes',
  operation: 'quotes',
  status: 200,
  code: null,
  reason: null,
  missing_scope: null,
  ms: 7.5,
  address: '203.0.113.7',
};

/** Stores a request for each of these, newest first and a minute apart; resolves with their rows. */
export async function someRequests(
  gateway: TestGateway,
  of: Organisation,
  keyId: string,
  given: readonly Partial<RequestRow>[],
): Promise<RequestRow[]> {
  const rows = given.map((one, at): RequestRow => {
    const row = {
      ...USUAL_ROW,
      _id: randomUUID(),
      organisation_id: of.id,
      key_id: keyId,
      request_id: randomUUID(),
      at: new Date(Date.now() - (at + 1) * 60_000),
      ...one,
    };
    return { ...row, failed: row.code !== null || (row.status >= 400 && row.status !== 499) };
  });
  await gateway.control.requests.add(rows);
  return rows;
}

/** Counts requests of a key, `hoursAgo`. */
export async function someUsage(
  gateway: TestGateway,
  keyId: string,
  counted: readonly FinishedRequest[],
  hoursAgo = 0,
): Promise<void> {
  const details = new Map<string, number>();
  for (const path of counted.flatMap(pathsOf)) details.set(path, (details.get(path) ?? 0) + 1);
  const count = (outcome: FinishedRequest['outcome']): number =>
    counted.filter((one) => one.outcome === outcome).length;
  await gateway.control.usage.add([
    {
      keyId,
      at: new Date(Date.now() - hoursAgo * 3_600_000),
      requests: counted.length,
      details,
      errors: count('error'),
      rate_limited: count('rate_limited'),
      mcp: counted.filter(({ isMcp }) => isMcp).length,
    },
  ]);
}

/** Successful requests, over MCP if they took more than a second. */
export function successes(amount: number, ms: number): FinishedRequest[] {
  return Array.from({ length: amount }, () => ({ outcome: 'ok', operation: 'quotes', ms, isMcp: ms > 1000 }));
}

export function failures(amount: number): FinishedRequest[] {
  return Array.from({ length: amount }, () => ({ outcome: 'error', operation: 'quote', code: 'not_found', ms: 7 }));
}

/** An organisation with endpoints at these URLs, and who manages them. */
export async function withEndpoints(
  gateway: TestGateway,
  ...urls: string[]
): Promise<{ of: Organisation; admin: Call; ids: string[]; secrets: string[] }> {
  const { admin, organisation: of } = await officeOf(gateway);
  const made = [];
  for (const url of urls) made.push(await admin('create_webhook', { url }));
  return {
    of,
    admin,
    ids: made.map(({ endpoint }) => endpoint.id as string),
    secrets: made.map(({ secret }) => secret as string),
  };
}

/** Of the deliveries that {@link someDeliveries} stores. */
export const STATES: readonly DeliveryRow['state'][] = ['delivered', 'delivered', 'failed', 'held', 'skipped'];

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
    const attempt = { at: time, ok: false, status: 503, error: 'HTTP 503', answer: null, ms: 12 };
    const state = before === 0 ? 'delivered' : states[before % states.length]!;
    const last = { ...attempt, ok: true, status: 200, error: null, answer: 'so full', ms: 7 };
    return {
      _id: deliveryId(endpoint, position),
      endpoint_id: endpoint,
      event_id: eventId(of.id, position),
      type: 'quote.created',
      object_id: randomUUID(),
      at: time,
      state,
      next_at: state === 'waiting' ? time : null,
      attempts: before % STATES.length === 3 ? 0 : 2,
      log: before % STATES.length === 3 ? [] : [attempt, last],
    };
  });
  await createDeliveries(data).save(rows);
  const newest = rows.at(-1)!;
  const position = newest._id.slice(endpoint.length + 1);
  const object = newest.object_id!;
  await data.prepare([events]);
  await data.collection(events).insertMany([
    {
      _id: position,
      type: newest.type,
      at: newest.at,
      object: { type: 'quote', id: object },
      changes: [],
      status: 'draft',
    },
  ]);
  return { id: newest.event_id, object, position };
}
