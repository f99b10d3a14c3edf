import { randomUUID } from 'node:crypto';
import type { Organisation } from '../../src/auth/principal';
import { type CountedRequest, pathsOf } from '../../src/organisations/usageDetails';
import type { RequestRow } from '../../src/organisations/requestRows';
import type { TestGateway } from '../support/gateway';

/* Stores requests and usage directly, without making the requests. */

/** What most rows have. */
export const USUAL_ROW: Pick<
  RequestRow,
  'face' | 'method' | 'path' | 'operation' | 'status' | 'code' | 'reason' | 'ms' | 'address' | 'similar'
> = {
  ...{ face: 'rest', method: 'GET', path: '/api/v1/quotes', operation: 'quotes' },
  ...{ status: 200, code: null, reason: null, ms: 7.5, address: '203.0.113.7', similar: 0 },
};

/** Stores a request for each of these, newest first and a minute apart; resolves with their rows. */
export async function someRequests(
  gateway: TestGateway,
  of: Organisation,
  keyId: string,
  given: readonly Partial<RequestRow>[],
): Promise<RequestRow[]> {
  const rows = given.map((one, at): RequestRow => {
    const row = {
      ...{ ...USUAL_ROW, _id: randomUUID(), organisation_id: of.id, key_id: keyId, request_id: randomUUID() },
      ...{ at: new Date(Date.now() - (at + 1) * 60_000), ...one },
    };
    return { ...row, failed: row.code !== null || (row.status >= 400 && row.status !== 499) };
  });
  await gateway.control.requests.add(rows);
  return rows;
}

/** Counts requests of a key, `hoursAgo`. */
export async function someUsage(
  gateway: TestGateway,
  keyId: string,
  counted: readonly CountedRequest[],
  hoursAgo = 0,
): Promise<void> {
  const details = new Map<string, number>();
  for (const path of counted.flatMap(pathsOf)) details.set(path, (details.get(path) ?? 0) + 1);
  const count = (outcome: CountedRequest['outcome']): number => counted.filter((one) => one.outcome === outcome).length;
  await gateway.control.usage.add([
    {
      ...{ keyId, hour: new Date(Date.now() - hoursAgo * 3_600_000), requests: counted.length, details },
      ...{ errors: count('error'), rate_limited: count('rate_limited') },
      mcp: counted.filter(({ isMcp }) => isMcp).length,
    },
  ]);
}

/** Successful requests, over MCP if they took more than a second. */
export function successes(amount: number, ms: number): CountedRequest[] {
  return Array.from({ length: amount }, () => ({ outcome: 'ok', operation: 'quotes', ms, isMcp: ms > 1000 }));
}

export function failures(amount: number): CountedRequest[] {
  return Array.from({ length: amount }, () => ({ outcome: 'error', operation: 'quote', code: 'not_found', ms: 7 }));
}
