import { once } from 'node:events';
import { createServer, request, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { SELF_SIGNED } from '../api/webhooks/certificate';
import { startGateway, type TestGateway } from './gateway';

/** The path of a gateway behind {@link startBelowPath}. */
export const BASE = '/apps/quotes';

/** A gateway below a path of its host: what is in front removes the path, and answers 404 to everything else there. */
export const startBelowPath = (environment: Record<string, string> = {}, base = BASE): Promise<TestGateway> =>
  startBehind(base, (listener) => createServer(listener), environment);

/** A gateway behind a proxy with TLS, whose certificate nobody trusts. */
export const startBehindTls = (environment: Record<string, string> = {}): Promise<TestGateway> =>
  startBehind('', (listener) => createTlsServer(SELF_SIGNED, listener), environment);

async function startBehind(
  base: string,
  makeProxy: (listener: RequestListener) => ReturnType<typeof createServer | typeof createTlsServer>,
  environment: Record<string, string>,
): Promise<TestGateway> {
  let target = '';
  const proxy = makeProxy((asked, answer) => {
    const path = asked.url ?? '';
    if (!path.startsWith(`${base}/`)) {
      answer.writeHead(404).end('not the gateway');
      return;
    }
    const { method = '', headers } = asked;
    const sent = request(target + path.slice(base.length), { method, headers, agent: false }, (got) => {
      answer.writeHead(got.statusCode ?? 0, got.headers);
      got.pipe(answer);
    });
    sent.on('error', () => answer.destroy());
    asked.pipe(sent);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const scheme = 'setSecureContext' in proxy ? 'https' : 'http';
  const url = `${scheme}://127.0.0.1:${String((proxy.address() as AddressInfo).port)}${base}`;
  const gateway = await startGateway({ PUBLIC_URL: url, ...environment });
  target = gateway.url;
  const stop = async (): Promise<void> => {
    await gateway.stop();
    proxy.closeAllConnections();
    proxy.close();
  };
  return { ...gateway, url, stop, [Symbol.asyncDispose]: stop };
}
