import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { mongo } from 'mongoose';
import { eventually } from '../../../api/http/eventually';
import { type Json, readAll } from '../../../support/client';
import { northwind } from '../../../support/factories';
import { byId } from './programs';
import { type Jobs, PATIENCE } from './scene';

/* The job that keeps a copy of the orders. */

export function events({ start, killed, file, meet, seen, copy, scene, expiredCursor, addEvent }: Jobs): void {
  test("a copy equals what is stored after changes, kills, a gap, a month away and another organisation's key", async () => {
    const of = await scene('events', { orders: northwind('orders').slice(0, 60) });
    const orders = of.rows('orders') as unknown as mongo.Collection<{ _id: string }>;
    const isEqual = async ({ caller } = of): Promise<boolean> => {
      const rows = byId(await readAll(caller, '/orders', { include: 'lines', limit: 50 }));
      return (
        JSON.stringify(Object.entries(await copy('orders')).sort()) === JSON.stringify(Object.entries(rows).sort())
      );
    };
    const ids = northwind('orders').map(({ id }) => id as string);
    const [[first, second, third, fourth], newest] = [ids, ids[59]];
    const touch = (_id: string) =>
      orders.updateOne({ _id }, { $set: { customer_reference: randomUUID(), updated_at: new Date() } });
    await killed('before', /GET .*orders.*cursor/, of.key, 'events');
    // changed after its page was read: the feed has it
    meet('after', /GET .*orders\?(?!.*cursor)/, () => touch(newest!));
    const program = start(of.key, 'events');
    await eventually(() => isEqual(), PATIENCE);
    await touch(second!);
    await orders.deleteOne({ _id: third! });
    await eventually(() => isEqual(), PATIENCE);
    expect(program.said()).toBe('copied everything\n');
    await program.kill();
    const { next_cursor: after } = (await of.caller.get('/events', { after: 'now' })).body as Json;
    await orders.deleteOne({ _id: first! });
    await touch(fourth!);
    await eventually(async () => (await of.caller.get('/events', { after })).body.data.length === 2, PATIENCE);
    await killed('before', new RegExp(`GET .*orders\\?.*id=${fourth!}`), of.key, 'events');
    const again = start(of.key, 'events');
    await eventually(() => isEqual(), PATIENCE);
    expect(again.said()).toBe('');
    // a read for each page of events, and none for each order
    expect(seen(/GET .*orders\?.*id=.*id=/)).not.toEqual([]);
    expect(seen(/GET .*orders\//)).toEqual([]);
    // nobody recorded this deletion
    const { insertedId } = await orders.insertOne({
      ...(await orders.findOne({}))!,
      _id: randomUUID(),
      number: 'LOST',
    } as never);
    await eventually(() => isEqual(), PATIENCE);
    await again.kill();
    const lost = file(`orders/${String(insertedId)}.json`);
    const text = await readFile(lost, 'utf8');
    await orders.deleteOne({ _id: insertedId });
    const running = start(of.key, 'events');
    await eventually(() => isEqual(), PATIENCE);
    await writeFile(lost, text);
    const now = new Date();
    await addEvent(of, 'feed.gap', new Date(now.getTime() + 3_600_000), { from: now, to: now });
    await eventually(() => isEqual(), PATIENCE);
    await running.kill();
    await writeFile(lost, text);
    await writeFile(file('orders/cursor'), `${of.organisation.id} ${await expiredCursor(of)}`);
    const late = start(of.key, 'events');
    await eventually(() => isEqual(), PATIENCE);
    await late.kill();
    const other = await scene('events', { orders: northwind('orders').slice(60, 65) });
    const moved = start(other.key, 'events');
    await eventually(async () => moved.said().endsWith('everything\n') && (await isEqual(other)), PATIENCE);
    const { id } = of.organisation;
    expect(moved.said()).toBe(
      `orders is a copy of organisation ${id}, and the key of ${other.organisation.id}: starting over\ncopied everything\n`,
    );
  });
}
