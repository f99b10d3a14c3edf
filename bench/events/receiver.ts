import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Organisation } from '../../src/auth/principal';
import { readConfig } from '../../src/config';
import { webhookParts } from '../../src/webhooks';
import type { Rig } from '../rig';

/* Webhook endpoints, and a receiver that accepts everything. */

/** The variables of a gateway that sends to it. */
export const DELIVERING = {
  WEBHOOK_SECRET: 'a master secret for measurements only',
  WEBHOOK_ALLOWED_RANGES: '127.0.0.1/32',
} as const;

/** Starts a receiver in this process. `seen` has when the first event of each object came, by `performance.now()`. */
export async function startReceiver() {
  const seen = new Map<string, number>();
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', () => {
      const { object } = JSON.parse(body) as { object: { id: string } | null };
      if (object && !seen.has(object.id)) seen.set(object.id, performance.now());
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`,
    seen,
    stop(): void {
      server.close();
      server.closeAllConnections();
    },
  };
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

/** One endpoint each for the given organisation and for as many new ones as make `count`; returns all of them. */
export async function makeEndpoints(
  rig: Rig,
  { first, count, url }: { readonly first: Organisation; readonly count: number; readonly url: string },
): Promise<Organisation[]> {
  const { store } = rig;
  const { webhooksOf, poster } = webhookParts({ config: readConfig({ ...rig.environment, ...DELIVERING }), ...store });
  const all = [first];
  while (all.length < count)
    all.push(await store.control.organisations.create({ name: 'Listener', plan: 'integrations', currency: 'EUR' }));
  for (const organisation of all)
    await webhooksOf(organisation, { actor: store.operator }, store.operator.who).create({ url });
  poster.close();
  return all;
}
