import fc from 'fast-check';
import type { RequestContext } from '../../src/operations/context';
import { answerText } from '../../src/operations/answers';
import { MOST_ANSWER } from '../../src/units';

// the same cases on every machine; a failure prints how to reproduce it
fc.configureGlobal({ seed: 20261126 });

let pauses: number;
const context = { data: { giveWay: () => Promise.resolve(void (pauses += 1)) } } as unknown as RequestContext;
beforeEach(() => (pauses = 0));

test('the text of an answer is what JSON.stringify writes', async () => {
  const values = fc.anything({ withDate: true, withNullPrototype: true, withUnicodeString: true } as object);
  await fc.assert(
    fc.asyncProperty(fc.array(values), async (value) => {
      expect((await answerText(value, context)).toString()).toBe(Buffer.from(JSON.stringify(value)).toString());
    }),
  );
  expect(pauses).toBe(0);
});

const rows = (count: number, length: number): object => ({
  products: { data: Array.from({ length: count }, () => ({ name: 'é'.repeat(length), lines: [{ id: 1 }] })) },
});

test('others have their turn while a large one is written', async () => {
  const value = rows(100, 50_000);
  expect((await answerText(value, context)).equals(Buffer.from(JSON.stringify(value)))).toBe(true);
  expect(pauses).toBeGreaterThanOrEqual(10);
});

test('one over 16 MiB is refused before it is complete, and one of 16 MiB is not', async () => {
  const largest = ['a'.repeat(MOST_ANSWER - 4)];
  expect(await answerText(largest, context)).toHaveLength(MOST_ANSWER);
  const refusal = { code: 'invalid_request', detail: expect.stringContaining('larger than 16 MiB') };
  await expect(answerText(['a', ...largest], context)).rejects.toMatchObject(refusal);
  pauses = 0;
  await expect(answerText(rows(10_000, 50_000), context)).rejects.toMatchObject(refusal);
  expect(pauses).toBeLessThan(100);
});
