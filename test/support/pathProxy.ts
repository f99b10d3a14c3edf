import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startGateway, type TestGateway } from './gateway';

/** The path of a gateway behind {@link startBelowPath}. */
export const BASE = '/apps/quotes';

/** A gateway below a path of its host: what is in front removes the path, and answers 404 to everything else there. */
export async function startBelowPath(environment: Record<string, string> = {}): Promise<TestGateway> {
  let target = '';
  const proxy = createServer((asked, answer) => {
    const path = asked.url ?? '';
    if (!path.startsWith(`${BASE}/`)) {
      answer.writeHead(404).end('not the gateway');
      return;
    }
    const { method = '', headers } = asked;
    const sent = request(target + path.slice(BASE.length), { method, headers, agent: false }, (got) => {
      answer.writeHead(got.statusCode ?? 0, got.headers);
      got.pipe(answer);
    });
    sent.on('error', () => answer.destroy());
    asked.pipe(sent);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  const url = `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}${BASE}`;
  const gateway = await startGateway({ PUBLIC_URL: url, ...environment });
  target = gateway.url;
  const stop = async (): Promise<void> => {
    await gateway.stop();
    proxy.closeAllConnections();
    proxy.close();
  };
  return { ...gateway, url, stop, [Symbol.asyncDispose]: stop };
}
