// Loaded into the measured server (node --expose-gc --require): tells its memory after a collection.
const { createServer } = require('node:http');

createServer((_request, response) => {
  globalThis.gc();
  globalThis.gc();
  const { rss, heapUsed } = process.memoryUsage();
  response.end(JSON.stringify({ rss, heap: heapUsed }));
})
  .listen(Number(process.env.PROBE_PORT), '127.0.0.1')
  .unref();
