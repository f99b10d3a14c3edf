import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { formatAmount, Scopegate, verifyWebhook } from '@scopegate/client';

/* Makes the calls that it reads from stdin, and prints a line of JSON for each retry, row and result. driver.py is the same in Python. */

const { options, calls, waits } = JSON.parse(readFileSync(0, 'utf8'));
const say = (line) => console.log(JSON.stringify(line));
/** How a log would show an error. */
const shown = (error) => inspect(error, { depth: 9, showHidden: true });
const { setTimeout } = globalThis;
function onRetry(error, seconds) {
  say({ retry: error.code, seconds, shown: shown(error) });
  if (seconds > 60) throw new Error('too long for a test');
  if (waits === 'real') return;
  // the client's next timer is its wait
  globalThis.setTimeout = (done, ms) => {
    globalThis.setTimeout = setTimeout;
    return setTimeout(done, ms / 20);
  };
}
let api;

async function each(rows, take) {
  let count = 0;
  for await (const row of rows) {
    say({ row });
    if ((count += 1) === take) return;
  }
}

const METHODS = {
  get: ({ route, path, query }) => api.get(route, { path, query }),
  read: ({ route, path, query }) => api.read(route, { path, query }).then(({ data, etag }) => [data, etag]),
  list: ({ route, path, query, take }) => each(api.list(route, { path, query }), take),
  post: ({ route, path, body, key }) => api.post(route, { path, body, idempotencyKey: key }),
  patch: ({ route, path, body, key, etag }) => api.patch(route, { path, body, idempotencyKey: key, ifMatch: etag }),
  graphql: ({ document, variables, key }) => api.graphql(document, variables, { idempotencyKey: key }),
  events: ({ after, types, silence, take }) => each(api.events({ after, types, silence }), take),
  verify: ({ body, headers, secret, tolerance }) => {
    if (tolerance) return verifyWebhook(body, headers, secret, { tolerance: Number(tolerance) });
    const event = verifyWebhook(body, headers, secret);
    // also with bytes, and with Headers
    return verifyWebhook(Buffer.from(body), new Headers(headers), secret) && event;
  },
  format: ({ minor, currency }) => formatAmount(minor, currency),
};

for (const call of calls) {
  try {
    api ??= new Scopegate({ ...options, onRetry });
    say({ result: (await METHODS[call.do](call)) ?? null });
  } catch (error) {
    const { name, message, status, code, detail, errors, requestId, retryAfter, isRetryable } = error;
    say({
      error: { name, message, status, code, detail, errors, requestId, retryAfter, isRetryable, shown: shown(error) },
    });
  }
}
