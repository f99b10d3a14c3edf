/** How long nothing may be said, in milliseconds. */
const QUIET = 10_000;

/**
 * Says that the tests live where Jest itself shows no running count (in a pipe, in CI): while no file ends for ten seconds, how far
 * the run is and which files are at it.
 */
module.exports = class ProgressReporter {
  #running = new Map();
  #done = { files: 0, tests: 0, of: 0 };
  #started = Date.now();
  #timer;

  onRunStart({ numTotalTestSuites }) {
    if (process.stderr.isTTY) return;
    this.#done.of = numTotalTestSuites;
    process.stderr.write(`${String(numTotalTestSuites)} files of tests\n`);
    this.#wait();
  }

  onTestFileStart({ path }) {
    this.#running.set(path, Date.now());
  }

  onTestFileResult({ path }, { numPassingTests, numFailingTests }) {
    this.#running.delete(path);
    this.#done.files += 1;
    this.#done.tests += numPassingTests + numFailingTests;
    // the default reporter has said a line of its own
    if (this.#timer) this.#wait();
  }

  onRunComplete() {
    clearInterval(this.#timer);
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
    return `… ${String(files)} of ${String(of)} files, ${String(tests)} tests, ${seconds(this.#started)}; at ${running.join(', ')}`;
  }
};
