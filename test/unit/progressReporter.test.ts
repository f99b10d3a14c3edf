import ProgressReporter from '../support/progressReporter';

let written: string[];
beforeEach(() => {
  written = [];
  jest.useFakeTimers();
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
    written.push(String(text));
    return true;
  });
});
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
  Reflect.deleteProperty(process.stderr, 'isTTY');
});

const on = (isTTY: boolean): void => {
  Object.defineProperty(process.stderr, 'isTTY', { value: isTTY, configurable: true });
};
const slow = { path: '/x/test/attacks/matrix.test.ts' };

test('in a pipe, prints what is running at least every ten seconds', () => {
  on(false);
  const reporter = new ProgressReporter();
  reporter.onRunStart({ numTotalTestSuites: 3 });
  reporter.onTestFileStart(slow);
  jest.advanceTimersByTime(25_000);
  expect(written.slice(1)).toEqual([
    '… 0 of 3 files, 0 tests, 10 s; running test/attacks/matrix.test.ts (10 s)\n',
    '… 0 of 3 files, 0 tests, 20 s; running test/attacks/matrix.test.ts (20 s)\n',
  ]);
  reporter.onTestFileStart({ path: '/x/test/unit/money.test.ts' });
  reporter.onTestFileResult({ path: '/x/test/unit/money.test.ts' }, { numPassingTests: 4, numFailingTests: 1 });
  // Jest has just printed the line of that file
  jest.advanceTimersByTime(9_000);
  expect(written).toHaveLength(3);
  jest.advanceTimersByTime(1_000);
  expect(written.at(-1)).toBe('… 1 of 3 files, 5 tests, 35 s; running test/attacks/matrix.test.ts (35 s)\n');
  reporter.onRunComplete(new Set());
  jest.advanceTimersByTime(60_000);
  expect(written).toHaveLength(4);
});

test('a run of some projects ends with the commands for the others', () => {
  const ended = (...names: string[]): string[] => {
    written = [];
    new ProgressReporter().onRunComplete(new Set(names.map((name) => ({ config: { displayName: { name } } }))));
    return written;
  };
  const [system, full] = [expect.stringContaining('npm run test:system'), expect.stringContaining('npm run test:full')];
  expect(ended('unit', 'api')).toEqual([system, full]);
  expect(ended('unit', 'api', 'system', 'browser')).toEqual([full]);
  expect(ended('unit', 'api', 'system', 'browser', 'full')).toEqual([]);
  // of files that somebody chose
  expect(ended('api')).toEqual([]);
});

test('in a terminal, where Jest shows progress itself, prints nothing', () => {
  on(true);
  const reporter = new ProgressReporter();
  reporter.onRunStart({ numTotalTestSuites: 3 });
  reporter.onTestFileStart(slow);
  reporter.onTestFileResult(slow, { numPassingTests: 1, numFailingTests: 0 });
  jest.advanceTimersByTime(60_000);
  expect(written).toEqual([]);
});
