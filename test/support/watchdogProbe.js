/*
 * A thread that asks a gateway again and again, so that the test's own work does not make the answers late. Each kind of request is sent
 * every so often, also while one before it is not answered; the longest wait of each kind is kept, those that still wait included.
 */
const { createHash } = require('node:crypto');
const { readFileSync } = require('node:fs');
const { Agent, request } = require('node:http');
const { parentPort, workerData } = require('node:worker_threads');

/** In milliseconds; a gateway that is held must not make them pile up. */
const [EVERY, COMPUTE_EVERY, WITHIN] = [25, 500, 60_000];
const MOST_WAITING = 2;
const BLOCK = Buffer.alloc(256 * 1024);

/** How long a thread ran, and how long it was ready to run while others had the processors, in milliseconds; 0 without Linux. */
function scheduled(thread) {
  try {
    const [ran, waited] = readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ').map(Number);
    return { ran: ran / 1e6, waited: waited / 1e6 };
  } catch {
    return { ran: 0, waited: 0 };
  }
}

const delayOf = (thread) => scheduled(thread).waited;

/** The same for the gateway's first thread and this one together. */
const notRun = () => delayOf(workerData.pid) + delayOf('thread-self');

const agent = new Agent({ keepAlive: true });

function ask({ url, headers }, onDone) {
  // the read takes a connection of its own each time, as another caller's would
  const sent = request(url, { headers, agent: headers ? false : agent, timeout: WITHIN }, (response) => {
    response.resume().once('end', () => onDone(response.statusCode));
    response.once('error', () => onDone(0));
  });
  sent.once('timeout', () => sent.destroy());
  // a connection that was idle may be closed at any time, so clients ask again
  sent.once('error', () => (sent.reusedSocket ? ask({ url, headers }, onDone) : onDone(0)));
  sent.end();
}

/** How long a fixed computation takes, some 10 ms on a fast machine, however busy it is. */
function compute() {
  const started = performance.now() - delayOf('thread-self');
  const hash = createHash('md5');
  for (let round = 0; round < 24; round += 1) hash.update(BLOCK);
  hash.digest();
  return performance.now() - delayOf('thread-self') - started;
}

function probe(target) {
  const waiting = new Set();
  const seen = { waits: [], failures: [] };
  const one = () => {
    if (waiting.size >= MOST_WAITING) return;
    const started = performance.now() - notRun();
    waiting.add(started);
    ask(target, (status) => {
      if (!waiting.delete(started)) return;
      seen.waits.push(Math.max(0, performance.now() - notRun() - started));
      if (status !== 200) seen.failures.push(status);
    });
  };
  const timer = setInterval(one, target.every ?? EVERY);
  one();
  return {
    /** Ends once all are answered. */
    async end() {
      clearInterval(timer);
      while (waiting.size > 0) await new Promise((done) => setTimeout(done, 5));
      return seen;
    },
  };
}

const before = scheduled(workerData.pid);
const computed = [compute()];
const computing = setInterval(() => computed.push(compute()), COMPUTE_EVERY);
const probes = workerData.targets.map(probe);
parentPort.once('message', async () => {
  clearInterval(computing);
  computed.push(compute());
  const results = await Promise.all(probes.map((one) => one.end()));
  agent.destroy();
  const after = scheduled(workerData.pid);
  const ran = after.ran - before.ran;
  // its garbage collection, for which it waits, is delayed like itself
  const stretch = ran > 0 ? (ran + after.waited - before.waited) / ran : 1;
  parentPort.postMessage({ results, computed: Math.max(...computed), stretch });
});
