import type { Gateway } from './gateway';
import { openFiles } from './processes';

/** Values from a gateway's metrics, of one moment; NaN for each if it does not answer. */
async function metrics(gateway: Gateway, names: readonly string[]): Promise<number[]> {
  const reply = await gateway.call({ method: 'GET', path: '/metrics', fresh: true }, 10_000);
  const lines = reply.kind === 'answer' ? reply.body.split('\n') : [];
  return names.map((name) => {
    const line = lines.find((one) => one.startsWith(`${name} `));
    return line === undefined ? NaN : Number(line.slice(name.length));
  });
}

/** A value from a gateway's metrics; NaN if it does not answer. */
export async function metric(gateway: Gateway, name: string): Promise<number> {
  const [value = NaN] = await metrics(gateway, [name]);
  return value;
}

/**
 * Descriptors of a gateway without those of its connections to the database, of which it keeps as many as it once needed,
 * up to its bound; NaN if it does not answer.
 */
export async function ownDescriptors(gateway: Gateway): Promise<number> {
  const states = ['checked_out', 'available'];
  const pooled = await metrics(
    gateway,
    states.map((state) => `scopegate_database_connections{cluster="default",state="${state}"}`),
  );
  return ((await openFiles(gateway.pid())) ?? NaN) - pooled.reduce((sum, count) => sum + count, 0);
}

export const IN_HAND = 'scopegate_http_requests_in_hand';
export const BODY_BYTES = 'scopegate_http_body_bytes';
