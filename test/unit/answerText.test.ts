import fc from 'fast-check';
import type { CallContext } from '../../src/operations/context';
import { answerText } from '../../src/operations/answers';

// the same cases on every machine; a failure prints how to reproduce it
fc.configureGlobal({ seed: 20261126 });

let pauses: number;
const context = { pauses: { yieldToOthers: () => Promise.resolve(void (pauses += 1)) } } as unknown as CallContext;
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

test('others have their turn while a large one is written', async () => {
  const data = Array.from({ length: 100 }, () => ({ name: 'é'.repeat(50_000), lines: [{ id: 1 }] }));
  expect((await answerText({ data }, context)).equals(Buffer.from(JSON.stringify({ data })))).toBe(true);
  expect(pauses).toBeGreaterThanOrEqual(10);
});

test('a member called toJSON, as a caller may call it, is written in pieces like any other, up to the size of an answer', async () => {
  const nested = (name: string) => ({
    [name]: Array.from({ length: 100 }, () => ({ text: 'é'.repeat(50_000), lines: [{}] })),
  });
  expect((await answerText(nested('toJSON'), context)).toString()).toBe(JSON.stringify(nested('toJSON')));
  expect(pauses).toBeGreaterThanOrEqual(10);
  const large = { toJSON: Array.from({ length: 10 }, () => nested('toJSON')) };
  await expect(answerText(large, context)).rejects.toMatchObject({ code: 'invalid_request' });
});
