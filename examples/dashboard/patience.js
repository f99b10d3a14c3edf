/** The longest wait between two attempts, in seconds. */
const LONGEST = 30;

/** The shortest, whoever is in a hurry. */
const SHORTEST = 1;

/** How many seconds to wait after so many failures: 1, 2, 4, … 30, and up to a quarter more, so that pages that lost the same gateway do not return at once. */
export function waitAfter(failures) {
  return Math.min(LONGEST, 2 ** (failures - 1)) * (1 + Math.random() / 4);
}

/** Resolves after so many seconds, or at once when `signal` aborts. */
export function pause(seconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(done, seconds * 1000);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done);
    if (signal.aborted) done();
  });
}

/**
 * Repeats what fails for now, with growing waits. `replaced`, called for each wait, returns a signal that ends it early: after a second
 * at least, and never before the time that the gateway has named. @throws Problem that another attempt would not solve
 */
export async function persist(work, { signal, onWait, replaced = () => signal }) {
  for (let failures = 1; ; failures += 1) {
    try {
      return await work();
    } catch (problem) {
      signal.throwIfAborted();
      if (!problem.isTemporary) throw problem;
      const failedAt = performance.now();
      for (let seconds = Math.max(problem.retryAfter, waitAfter(failures)); seconds > 0;) {
        onWait(problem, seconds);
        const early = replaced();
        await pause(seconds, AbortSignal.any([signal, early]));
        signal.throwIfAborted();
        if (!early.aborted) break;
        failures = 0;
        seconds = Math.max(problem.retryAfter, SHORTEST) - (performance.now() - failedAt) / 1000;
      }
    }
  }
}
