// Loaded into the measured server (node --expose-gc --require). Reports its memory after a garbage collection, and the
// longest pause, in milliseconds, of collections that V8 started itself since the last report.
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
