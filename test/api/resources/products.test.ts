import type { Json } from '../../support/client';
import { ask, FACES, REST } from '../../support/faces';
import { callerOf } from '../../support/factories';
import { late, served } from '../../support/gateway';
import { newKey, upserting, upsertOf } from '../../support/upserts';

const gateway = served();
const caller = late(() => callerOf(gateway));

const BIGGEST = Number.MAX_SAFE_INTEGER;

describe.each(FACES)('upserting a product in $name', (face) => {
  const { call, report, element, stored } = upserting(upsertOf('products'), face, () => caller);

  test.each<[string, Json]>([
    ['a sku of 64 characters', { sku: 's'.repeat(64 - face.name.length) + face.name }],
    ['a name of 200 letters of four bytes', { name: '𝕏'.repeat(200) }],
    ['a description of 5,000 characters', { description: 'd'.repeat(5000) }],
    ['a price of 0', { unit_price_minor: 0 }],
    ['a recently added currency', { currency: 'XCG' }],
  ])('stores %s unchanged', async (_title, members) => {
    const one = element(members);
    expect((await report([one])).created).toBe(1);
    expect(await stored(one)).toMatchObject(members);
  });

  test('stores a price of 2^53-1 exactly', async () => {
    const one = element({ unit_price_minor: BIGGEST });
    await report([one]);
    const { id } = await stored(one);
    expect((await caller.get(`/products/${String(id)}`)).text).toContain('"unit_price_minor":9007199254740991');
  });

  test.each([BIGGEST + 1, 1.5, '100', true, 1e300])('rejects a price of %p', async (price) => {
    const one = element({ unit_price_minor: price });
    const { problem, data } = await call([one, element()]);
    if (face === REST) expect(data).toMatchObject({ failed: 1, created: 1 });
    else expect(problem?.status).toBe(400);
    expect(await stored(one)).toBeUndefined();
  });

  test("uses the organisation's currency if omitted", async () => {
    const euro = await gateway.control.organisations.create({ name: 'Euro', plan: 'integrations', currency: 'EUR' });
    const other = await callerOf(gateway, euro);
    const products = [
      { sku: newKey(), name: 'Bolt' },
      { sku: newKey(), name: 'Bolt', currency: null },
    ];
    await ask(face, other, 'upsert_products', { products });
    const { data } = await ask(face, other, 'products');
    expect(data.map(({ currency }: Json) => currency)).toEqual(['EUR', 'EUR']);
  });
});
