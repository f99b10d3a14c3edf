import { settledUntil } from '../../../src/tenant/openWrites';
import type { Json } from '../../support/client';
import { callerOf, makeOrganisation } from '../../support/factories';
import { late, servedBy, startGateway } from '../../support/gateway';
import { startMongos } from '../../support/mongos';

/* Times behind a mongos whose clock is wrong: shards stamp what they store. */

const HOUR = 3_600_000;
const mongos = late(() => startMongos(['shard01', 'shard02']));
const gateway = servedBy(() => startGateway({ MONGODB_URI: mongos.uri, CONTROL_DATABASE: 'scopegate_shards_times' }));
afterAll(() => mongos.close());

test.each([
  ['ahead', HOUR],
  ['behind', -HOUR],
])(
  'changes are stamped by the shard, and lists of changes miss none, if the clock of mongos is %s',
  async (_what, off) => {
    const organisation = await makeOrganisation(gateway);
    const caller = await callerOf(gateway, organisation);
    mongos.replies.hello = () => ({ localTime: new Date(Date.now() + off) });
    await gateway.databases.hello();
    const isNow = (time: Date): boolean => Math.abs(time.getTime() - Date.now()) < HOUR / 2;
    const write = async (sku: string): Promise<Date> => {
      const { status, body } = await caller.post('/products/bulk', { products: [{ sku, name: sku }] });
      expect(status).toBe(200);
      const { id } = (body.results as Json[])[0] as { id: string };
      return new Date((await caller.get(`/products/${id}`)).body.updated_at as string);
    };
    const data = gateway.databases.organisationData(organisation);
    expect(isNow(await write('A'))).toBe(true);
    const until = await settledUntil(data);
    expect(isNow(until)).toBe(true);
    // a later change is not missed by who has read up to then
    expect((await write('B')).getTime()).toBeGreaterThanOrEqual(until.getTime());
  },
);
