import { releaseStartMemory } from '../../src/cli/serve/serveUntilStopped';
import { MEBIBYTE } from '../../src/units';

const used = (): number => process.memoryUsage().heapUsed / MEBIBYTE;

test('memory that is only needed to start is given back', async () => {
  let kept: unknown[] | undefined = Array.from({ length: 1_000_000 }, (_, at) => ({ at, text: `text ${String(at)}` }));
  const before = used();
  expect(kept).toHaveLength(1_000_000);
  kept = undefined;
  await releaseStartMemory();
  expect(before - used()).toBeGreaterThan(50);
  // and again, as each of several workers in a process does
  await releaseStartMemory();
});
