import type { Gateway } from './gateway';

/** A value from a gateway's metrics; NaN if it does not answer. */
export async function metric(gateway: Gateway, name: string): Promise<number> {
  const reply = await gateway.call({ method: 'GET', path: '/metrics', fresh: true }, 10_000);
  const line = reply.kind === 'answer' ? reply.body.split('\n').find((one) => one.startsWith(`${name} `)) : undefined;
  return line === undefined ? NaN : Number(line.slice(name.length));
}

export const IN_HAND = 'scopegate_http_requests_in_hand';
export const BODY_BYTES = 'scopegate_http_body_bytes';
