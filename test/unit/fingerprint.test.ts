import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { fingerprintOf } from '../../src/tenant/idempotency';

/** As records of the last 24 hours have it. */
function stored(operation: string, args: unknown): string {
  const sorted = JSON.stringify(args, (_name, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
  return createHash('sha256').update(operation).update('\n').update(sorted).digest('base64url');
}

const values = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue({ maxDepth: 0 }),
    fc.constant(undefined),
    fc.array(tie('value')),
    // JavaScript puts names that are numbers first
    fc.dictionary(
      fc.string().filter((name) => !/^\d/.test(name) && name !== '__proto__'),
      tie('value'),
    ),
  ),
})).value;

test('a fingerprint is that of JSON with sorted members', async () => {
  const pace = (): Promise<void> => Promise.resolve();
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      const asked = { operation: 'upsert_products', args: { value } };
      expect(await fingerprintOf(asked, pace)).toBe(stored(asked.operation, asked.args));
    }),
    { numRuns: 300 },
  );
  const at = new Date(0);
  expect(await fingerprintOf({ operation: 'x', args: { at } }, pace)).toBe(stored('x', { at }));
});
