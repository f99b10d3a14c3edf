import { createSemaphore } from '../../src/async/semaphore';
import { createObjectReads } from '../../src/tenant/objectReads';

test('each read asks for its collection, which may begin a check of its indexes', async () => {
  const asked: string[] = [];
  const reads = createObjectReads({
    collection: ({ name }) => {
      asked.push(name);
      return {} as never;
    },
    semaphore: createSemaphore(1),
    reading: {} as never,
    nestedBudget: {} as never,
  });
  const [projection, products] = [{ _id: 1 } as const, { name: 'products' } as never];
  for (let time = 0; time < 3; time += 1) await reads.readRaw(products, 'a', projection).catch(() => undefined);
  expect(asked).toEqual(['products', 'products', 'products']);
});
