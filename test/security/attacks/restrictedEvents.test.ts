import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import type { EventRow } from '../../../src/events/collection';
import { BEGINNING, cursorOf } from '../../../src/events/page';
import { positionOf, timeDigits } from '../../../src/events/position';
import { tailRows } from '../../../src/events/tail/lease';
import { eventually } from '../../api/http/eventually';
import { subscribe } from '../../support/eventStream';
import { makeKey } from '../../support/factories';
import { eventRow, eventScene, SECOND } from '../../support/fixtures/events';
import { client } from '../../support/client';
import { driver, servedBy, startGateway } from '../../support/gateway';

/* What cursors of the feed tell a key for some customers, which reads the positions in them and makes others, about the events of other customers. */

const gateway = servedBy(() => startGateway({ CONTROL_DATABASE: `scopegate_cursors_${randomUUID().slice(0, 8)}` }));
const bare = driver();

/** The first full hour of the events, in seconds. */
const HOUR = Math.ceil(SECOND / 3600) * 3600;

/** The event of an object of a customer, or of another if there is none, at a time of the log. */
function rowAt(t: number, i: number, customer: string = randomUUID()): EventRow {
  const row = { ...eventRow(0, 'order.updated'), customers: [customer] };
  return { ...row, _id: positionOf(0, timeDigits({ t, i }), 1) };
}

/** An organisation with these events, and a key for one customer, with the positions and numbers of events of the pages that it reads. */
async function newScene(rowsOf: (mine: string) => readonly EventRow[]) {
  const { organisation, rows, caller: whole } = await eventScene(gateway, bare);
  const made = await whole.post('/customers/bulk', { customers: [{ external_ref: 'MINE', name: 'Mine' }] });
  const mine = made.body.results[0].id as string;
  await rows.insertMany([...rowsOf(mine)]);
  const { key } = await makeKey(gateway, organisation, { customerIds: [mine] });
  const caller = client(gateway, key);
  async function page(after: string): Promise<{ next: string; count: number; more: boolean; cursor: string }> {
    const { status, body } = await caller.get('/events', { after });
    expect(status).toBe(200);
    const cursor = body.next_cursor as string;
    return { next: positionIn(cursor), count: body.data.length as number, more: body.has_more as boolean, cursor };
  }
  return {
    rows,
    key,
    mine,
    page,
    pageAt: (position: string) => page(cursorOf({ organisationId: organisation.id }, position)),
  };
}

const positionIn = (cursor: string): string => JSON.parse(Buffer.from(cursor, 'base64url').toString())[1];
const beginningOf = (t: number): string => positionOf(0, timeDigits({ t, i: 0 }), 0);

test('a page ends at a full hour, minute or second, whatever the position that it begins at, and the pages lead to the end', async () => {
  const { pageAt, page } = await newScene((mine) => [
    ...Array.from({ length: 300 }, (_none, n) => rowAt(HOUR - 600 + n, 2)),
    // more than are scanned for a page
    ...Array.from({ length: 5010 }, (_none, n) => rowAt(HOUR + 300, n + 1)),
    rowAt(HOUR + 1800, 1, mine),
  ]);
  for (const from of [BEGINNING, beginningOf(HOUR - 599), rowAt(HOUR - 599, 2)._id, rowAt(HOUR - 1, 9)._id])
    expect(await pageAt(from)).toMatchObject({ next: beginningOf(HOUR), count: 0, more: true });
  const minute = await pageAt(beginningOf(HOUR));
  expect(minute).toMatchObject({ next: beginningOf(HOUR + 300), count: 0, more: true });
  // in one second they are passed all the same
  const passed = await page(minute.cursor);
  expect(passed).toMatchObject({ next: rowAt(HOUR + 300, 5000)._id, count: 0, more: true });
  expect(await page(passed.cursor)).toMatchObject({ count: 1, more: false });
});

test('the end of the feed is the time up to which events are recorded, or the last own event since then', async () => {
  const at = new mongoose.mongo.Timestamp({ t: HOUR, i: 7 });
  await tailRows(bare, gateway.databases.control.name).updateOne({ _id: 'tail' }, { $set: { at } });
  const { rows, mine, page, key } = await newScene(() => [rowAt(HOUR, 1), rowAt(HOUR + 5, 1)]);
  const until = `0000${timeDigits(at)}ffffffff`;
  expect(await page('now')).toMatchObject({ next: until, count: 0, more: false });
  const stream = await subscribe({ url: gateway.url, key });
  expect(stream.status).toBe(200);
  expect(positionIn(await eventually(() => stream.frames()[0]?.id))).toBe(until);
  stream.leave();
  const own = rowAt(HOUR + 6, 1, mine);
  await rows.insertMany([own, rowAt(HOUR + 7, 1)]);
  expect(await page('now')).toMatchObject({ next: own._id, count: 0, more: false });
});
