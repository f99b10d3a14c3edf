import type { Organisation } from '../../../src/auth/principal';
import { eventually } from '../../api/http/eventually';
import type { Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { startGateway, type TestGateway } from '../../support/gateway';

/* Events of an organisation that MongoDB has moved to another shard. */

const SOON = 30_000;
const start = (): Promise<TestGateway> => startGateway({ EVENTS: 'on', CONTROL_DATABASE: 'scopegate_left_behind' });

async function types(gateway: TestGateway, organisation: Organisation): Promise<string[]> {
  const { body } = await (await callerOf(gateway, organisation)).get('/events');
  return (body.data as Json[]).map(({ type }) => type as string);
}

test.each([
  ['what a move has left on the former shard is dropped without an event', 0, []],
  ['a collection that another program drops is a gap', undefined, ['feed.gap']],
  ['what is dropped two hours after a move is a gap', 2, ['feed.gap']],
])(
  '%s',
  async (_what, hoursAgo, events) => {
    await using before = await start();
    const organisation = await makeOrganisation(before);
    const caller = await callerOf(before, organisation);
    expect((await caller.post('/products/bulk', { products: [{ sku: 'A', name: 'A' }] })).status).toBe(200);
    await eventually(async () => (await types(before, organisation)).includes('product.created'), SOON);

    // no tail may look between the drop and what stands for the other shard's collection
    await before.drain();
    const organisations = before.databases.control.collection('organisations');
    const moved_at = new Date(Date.now() - (hoursAgo ?? 0) * 3_600_000);
    if (hoursAgo !== undefined)
      await organisations.updateOne({ _id: organisation.id as never }, { $set: { moved_at } });
    const rows = before.databases.organisationData(organisation).database.collection('products');
    const all = await rows.find().toArray();
    await rows.drop();
    await rows.insertMany(all);

    await using after = await start();
    const isCreated = (type: string): boolean => type === 'product.created';
    await eventually(async () => (await types(after, organisation)).filter(isCreated).length === 2, SOON);
    expect(await types(after, organisation)).toEqual(['product.created', ...events, 'product.created']);
  },
  90_000,
);
