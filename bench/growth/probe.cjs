// Loaded into the measured server (node --expose-gc --require): tells its memory after a collection, and the longest
// pause, in milliseconds, that the collector made by itself since it was last asked.
const { createServer } = require('node:http');
const { constants, PerformanceObserver } = require('node:perf_hooks');

let pause = 0;
new PerformanceObserver((list) => {
  for (const { duration, detail } of list.getEntries()) {
    if ((detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) === 0) pause = Math.max(pause, duration);
  }
}).observe({ entryTypes: ['gc'] });

createServer((_request, response) => {
  const longest = pause;
  globalThis.gc();
  globalThis.gc();
  pause = 0;
  const { rss, heapUsed } = process.memoryUsage();
  response.end(JSON.stringify({ rss, heap: heapUsed, pause: longest }));
})
  .listen(Number(process.env.PROBE_PORT), '127.0.0.1')
  .unref();
