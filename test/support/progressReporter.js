/** Maximum time without output, in milliseconds. */
const QUIET = 10_000;

/**
 * Shows progress where Jest prints no running count (in a pipe, in CI): if no file finishes for ten seconds, prints how far the
 * run is and which files are running.
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
    return `… ${String(files)} of ${String(of)} files, ${String(tests)} tests, ${seconds(this.#started)}; running ${running.join(', ')}`;
  }
};
