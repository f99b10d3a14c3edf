import type { Json } from '../../support/client';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';

/* Several editors of the same objects at once: every acknowledged change is stored. */

const gateway = served();
const caller = late(() => callerOf(gateway));

test('80 changes at once, each of another member or product, are all there', async () => {
  const given = Array.from({ length: 10 }, (_, at) => ({ sku: `C-${String(at)}`, name: 'Before' }));
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

test('12 editors who each add a contact to one customer with If-Match undo nobody’s', async () => {
  const { body } = await caller.post('/customers/bulk', { customers: [{ external_ref: 'SHARED', name: 'Shared' }] });
  const path = `/customers/${String(body.results[0].id)}`;
  let refused = 0;
  const add = async (name: string): Promise<void> => {
    for (;;) {
      const read = await caller.get(path);
      const contacts = [...(read.body.contacts as object[]), { name }];
      const { status } = await caller.patch(path, { contacts }, { 'if-match': read.headers.get('etag') ?? '' });
      if (status === 200) return;
      expect([409, 412]).toContain(status);
      refused += 1;
    }
  };
  const names = Array.from({ length: 12 }, (_, at) => `Editor ${String(at)}`);
  await Promise.all(names.map(add));
  const stored = (await caller.get(path)).body.contacts.map(({ name }: Json) => name as string);
  expect(stored.toSorted()).toEqual(names.toSorted());
  expect(refused).toBeGreaterThan(0);
});
