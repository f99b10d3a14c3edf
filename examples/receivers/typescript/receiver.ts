import { createServer, type IncomingMessage } from 'node:http';
import { type Schemas, verifyWebhook } from '@scopegate/client';
import { createApi } from './api';
import { openMirror, type Mirror } from './mirror';

/*
 * SCOPEGATE_URL=http://127.0.0.1:4000 SCOPEGATE_KEY=svc_live_… SCOPEGATE_WEBHOOK_SECRET=whsec_… npm start
 * The key needs the read scopes of what is copied (mirror.ts).
 */
const {
  SCOPEGATE_URL: url = 'http://127.0.0.1:4000',
  SCOPEGATE_KEY: key = '',
  SCOPEGATE_WEBHOOK_SECRET: secret = '',
  PORT: port = '3000',
  COPY_FILE: file = 'copy.json',
  CATCH_UP_SECONDS: seconds = '300',
} = process.env;

/** No webhook is larger, in bytes. */
const MOST_BYTES = 20_000;

/** The body; undefined if it is too large. */
async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length;
    if (size > MOST_BYTES) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/** The status to answer with. */
async function receive(request: IncomingMessage, mirror: Mirror): Promise<number> {
  if (request.url !== '/webhooks') return 404;
  if (request.method !== 'POST') return 405;
  const body = await bodyOf(request);
  if (body === undefined) return 413;
  let event: Schemas['Event'];
  try {
    // the bytes that were signed, before anything has parsed them; refuses what is older than 5 minutes, too
    event = verifyWebhook(body, request.headers, secret);
  } catch {
    return 401;
  }
  // answered at once: the work is done later, and if this process ends before, the feed still has the event
  mirror.changed(event);
  console.log(`${event.type} ${event.object?.id ?? ''}`);
  return 204;
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

async function main(): Promise<void> {
  if (secret === '') throw new Error('SCOPEGATE_WEBHOOK_SECRET is not set');
  if (key === '') throw new Error('SCOPEGATE_KEY is not set');
  if (!/^whsec_[\w+/=]+$/.test(secret))
    throw new Error('SCOPEGATE_WEBHOOK_SECRET is not the secret of an endpoint, whsec_…');
  const mirror = await openMirror({ api: createApi(url, key), file, catchUpEvery: Number(seconds) * 1000 });
  const server = createServer((request, response) => {
    receive(request, mirror).then(
      (status) => response.writeHead(status, status === 413 ? { connection: 'close' } : {}).end(),
      // the sender has gone
      () => response.destroy(),
    );
  });
  server.requestTimeout = 10_000;
  // such as a port that is in use
  server.on('error', fail);
  server.listen(Number(port), '127.0.0.1', () => {
    console.log(`listening on ${JSON.stringify(server.address())}`);
  });
  await mirror.run();
}

main().catch(fail);
