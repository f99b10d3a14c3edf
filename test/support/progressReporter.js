const { projects } = require('../../jest.config');

/** Maximum time without output, in milliseconds. */
const QUIET = 10_000;

const NOT_RUN = [
  [
    'system',
    'Not run: tests of processes, signals and other programs (Redis), and of the pages in Chromium: npm run test:system',
  ],
  ['full', 'Not run: the long tests, the faults and generated clients: npm run test:full'],
];

/**
 * Shows progress where Jest prints no running count (in a pipe, in CI): if no file finishes for ten seconds, prints how far the
 * run is and which files are running. A run of some projects ends with what runs the others.
 */
module.exports = class ProgressReporter {
  #running = new Map();
  #done = { files: 0, tests: 0, of: 0 };
  #started = Date.now();
  #timer;

  onRunStart({ numTotalTestSuites }) {
    if (process.stderr.isTTY) return;
    this.#done.of = numTotalTestSuites;
    process.stderr.write(`${String(numTotalTestSuites)} test files\n`);
    this.#wait();
  }

  onTestFileStart({ path }) {
    this.#running.set(path, Date.now());
  }

  onTestFileResult({ path }, { numPassingTests, numFailingTests }) {
    this.#running.delete(path);
    this.#done.files += 1;
    this.#done.tests += numPassingTests + numFailingTests;
    // the default reporter has just printed a line
    if (this.#timer) this.#wait();
  }

  onRunComplete(contexts) {
    clearInterval(this.#timer);
    const ran = new Set([...contexts].map(({ config }) => config.displayName.name));
    if (!ran.has('unit') || !ran.has('api')) return;
    const not = projects.map(({ displayName }) => displayName).filter((name) => !ran.has(name));
    for (const line of NOT_RUN.filter(([project]) => not.includes(project))) process.stderr.write(`${line[1]}\n`);
  }

  #wait() {
    clearInterval(this.#timer);
    this.#timer = setInterval(() => {
      process.stderr.write(`${this.#line()}\n`);
    }, QUIET);
    this.#timer.unref();
  }

  #line() {
    const { files, of, tests } = this.#done;
    const seconds = (since) => `${String(Math.round((Date.now() - since) / 1000))} s`;
    const running = [...this.#running].map(
      ([path, since]) => `${path.split('/').slice(-3).join('/')} (${seconds(since)})`,
    );
    return `… ${String(files)} of ${String(of)} files, ${String(tests)} tests, ${seconds(this.#started)}; running ${running.join(', ')}`;
  }
};
