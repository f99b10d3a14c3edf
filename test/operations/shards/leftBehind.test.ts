import type { Organisation } from '../../../src/auth/principal';
import { eventually } from '../../api/http/eventually';
import type { Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { startGateway, type TestGateway } from '../../support/gateway';

/* Events of organisations that MongoDB has moved to another shard. */

const SOON = 30_000;
const start = (): Promise<TestGateway> => startGateway({ EVENTS: 'on', CONTROL_DATABASE: 'scopegate_left_behind' });

async function types(gateway: TestGateway, organisation: Organisation): Promise<string[]> {
  const { body } = await (await callerOf(gateway, organisation)).get('/events');
  return (body.data as Json[]).map(({ type }) => type as string);
}

/** What happens to a collection, how many hours ago its organisation was moved, and the events in between. */
const DROPS = [
  ['what a move has left on the former shard is dropped', 0, []],
  ['another program drops it', undefined, ['feed.gap']],
  ['it is dropped two hours after a move', 2, ['feed.gap']],
] as const;

test('what a move has left on the former shard is dropped without an event, and any other drop is a gap', async () => {
  await using before = await start();
  const organisations = await Promise.all(DROPS.map(() => makeOrganisation(before)));
  for (const organisation of organisations) {
    const caller = await callerOf(before, organisation);
    expect((await caller.post('/products/bulk', { products: [{ sku: 'A', name: 'A' }] })).status).toBe(200);
    await eventually(async () => (await types(before, organisation)).includes('product.created'), SOON);
  }

  // no tail may look between the drop and what stands for the other shard's collection
  await before.drain();
  const moves = before.databases.control.collection<{ _id: string }>('organisations');
  for (const [at, { id }] of organisations.entries()) {
    const [, hoursAgo] = DROPS[at]!;
    if (hoursAgo !== undefined)
      await moves.updateOne({ _id: id }, { $set: { moved_at: new Date(Date.now() - hoursAgo * 3_600_000) } });
    const rows = before.databases.organisationData({ id }).database.collection('products');
    const all = await rows.find().toArray();
    await rows.drop();
    await rows.insertMany(all);
  }

  await using after = await start();
  const isCreated = (type: string): boolean => type === 'product.created';
  for (const [at, organisation] of organisations.entries()) {
    const [what, , events] = DROPS[at]!;
    const all = await eventually(async () => {
      const found = await types(after, organisation);
      return found.filter(isCreated).length === 2 ? found : undefined;
    }, SOON);
    expect([what, all]).toEqual([what, ['product.created', ...events, 'product.created']]);
  }
});
