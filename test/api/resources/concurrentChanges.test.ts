import type { Client, Json } from '../../support/client';
import { comparesUnique } from '../../support/differences';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';

/* Several editors at once: every acknowledged change is stored, and of two that take a unique value one has it. */

const gateway = served();
const caller = late(() => callerOf(gateway));

test('24 changes at once, each of another member or product, are all there', async () => {
  const given = Array.from({ length: 3 }, (_, at) => ({ sku: `C-${String(at)}`, name: 'Before' }));
  const { body } = await caller.post('/products/bulk', { products: given });
  const changes = [
    ...[{ name: 'After' }, { description: 'new' }, { category: 'new' }, { uom: 'box' }, { currency: 'CHF' }],
    ...[{ unit_price_minor: 5 }, { vat_exempt: true }, { lead_time_days: 3 }],
  ];
  const answers = await Promise.all(
    (body.results as Json[]).flatMap(({ id }) =>
      changes.map(async (change) => ({
        id: id as string,
        change,
        ...(await caller.patch(`/products/${String(id)}`, change)),
      })),
    ),
  );
  const acknowledged = answers.filter(({ status }) => status === 200);
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  for (const { id, change } of acknowledged)
    expect((await caller.get(`/products/${id}`)).body).toEqual(expect.objectContaining(change));
});

const product = async (by: Client, sku: string): Promise<string> =>
  (await by.post('/products/bulk', { products: [{ sku, name: 'A' }] })).body.results[0].id as string;
const customer = async (by: Client, external_ref: string): Promise<string> =>
  (await by.post('/customers/bulk', { customers: [{ external_ref, name: 'A' }] })).body.results[0].id as string;
const thread = async (by: Client): Promise<string> => (await by.post('/requests', { text: 'Hello' })).body.id as string;

test.each<[string, string, (by: Client, at: string) => Promise<string>]>([
  ['products', 'sku', product],
  ['customers', 'external_ref', customer],
  ['requests', 'external_ref', thread],
])('%s: of two PATCHes to the same %s one is 200, the other 409', async (list, member, make) => {
  // nothing is promised on a server that commits both
  if (!(await comparesUnique(gateway.databases.control.getClient()))) return;
  for (let round = 0; round < 5; round += 1) {
    const value = `RACE-${String(round)}`;
    const ids = [await make(caller, `A${String(round)}`), await make(caller, `B${String(round)}`)];
    const answers = await Promise.all(ids.map((id) => caller.patch(`/${list}/${id}`, { [member]: value })));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const refused = answers.find(({ status }) => status === 409)!;
    expect(refused.body.code).toBe('conflict');
    const { data } = (await caller.get(`/${list}`, { [member]: value })).body;
    expect(data).toHaveLength(1);
    // neither is stuck
    for (const id of ids)
      expect((await caller.patch(`/${list}/${id}`, { [member]: `${value}-${id}` })).status).toBe(200);
  }
});
