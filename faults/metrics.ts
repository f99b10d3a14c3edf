import type { Gateway } from './gateway';
import { openFiles } from './processes';

/** A value from a gateway's metrics; NaN if it does not answer. */
export async function metric(gateway: Gateway, name: string): Promise<number> {
  const reply = await gateway.call({ method: 'GET', path: '/metrics', fresh: true }, 10_000);
  const line = reply.kind === 'answer' ? reply.body.split('\n').find((one) => one.startsWith(`${name} `)) : undefined;
  return line === undefined ? NaN : Number(line.slice(name.length));
}

/**
 * Descriptors of a gateway without those of its connections to the database, of which it keeps as many as it once needed,
 * up to its bound; NaN if it does not answer.
 */
export async function ownDescriptors(gateway: Gateway): Promise<number> {
  const pooled = await Promise.all(
    ['checked_out', 'available'].map((state) =>
      metric(gateway, `scopegate_database_connections{cluster="default",state="${state}"}`),
    ),
  );
  return ((await openFiles(gateway.pid())) ?? NaN) - pooled.reduce((sum, count) => sum + count, 0);
}

export const IN_HAND = 'scopegate_http_requests_in_hand';
export const BODY_BYTES = 'scopegate_http_body_bytes';
