import { randomUUID } from 'node:crypto';
import type { Json } from '../../support/client';
import { makeOrganisation } from '../../support/factories';
import type { TestGateway } from '../../support/gateway';
import { operator } from './operator';

/* Writes of an operator to an organisation of its own, and its rows as they are stored. */

export const LINE = {
  line_type: 'product',
  description: 'Bolt',
  qty: 2,
  uom: 'each',
  unit_price_minor: 50,
  discount_pct: 0,
  vat_exempt: true,
};

export const QUOTE = {
  number: 'Q-1',
  status: 'draft',
  currency: 'EUR',
  lines: [LINE],
  subtotal_minor: 100,
  discount_minor: 0,
  vat_minor: 0,
  total_minor: 100,
};

export const ORDER = { ...QUOTE, number: 'O-1', status: 'placed', shipping_minor: 0 };

/** A version of an object of each type, with only what it must have. */
export const LEAST: Readonly<Record<string, Json>> = {
  product: { sku: 'S-1', name: 'Bolt' },
  customer: { external_ref: 'c-1', name: 'Ann' },
  quote: QUOTE,
  order: ORDER,
  request: { external_ref: 't-1', subject: 'Hello' },
};

export async function writing(gateway: TestGateway) {
  const organisation = await makeOrganisation(gateway);
  const caller = operator(gateway);
  const { database } = gateway.databases.organisationData(organisation);
  const post = (body: Json, headers?: Record<string, string>) =>
    caller.post(`/organisations/${organisation.id}/writes`, body, headers);
  /** The results of elements; none of them may be refused as a call. */
  const write = async (writes: readonly Json[], options: Json = {}): Promise<Json> => {
    const { status, body } = await post({ writes, ...options });
    if (status !== 200) throw new Error(JSON.stringify(body));
    return body;
  };
  /** The outcomes of elements. */
  const outcomes = async (...writes: readonly Json[]): Promise<string[]> => {
    const { results } = await write(writes);
    return results.map(({ outcome, errors }: Json) => [outcome, ...errors.map((error: Json) => error.code)].join(' '));
  };
  return {
    organisation,
    caller,
    database,
    post,
    write,
    outcomes,
    rows: (collection: string): Promise<Json[]> => database.collection(collection).find().sort({ _id: 1 }).toArray(),
    row: (collection: string, external_ref: string): Promise<Json> =>
      database.collection(collection).findOne({ external_ref }),
  };
}

export const put = (type: string, members: Json, version?: number): Json => ({
  type,
  put: members,
  ...(version !== undefined && { version }),
});
export const patch = (type: string, members: Json, version?: number): Json => ({
  type,
  patch: members,
  ...(version !== undefined && { version }),
});
export const remove = (type: string, members: Json, version?: number): Json => ({
  type,
  delete: members,
  ...(version !== undefined && { version }),
});
export const anyKey = (): Record<string, string> => ({ 'idempotency-key': randomUUID() });

/** The points that each call after the first takes; measured again if the minute of the limit ended in between. */
export async function costsOf(...calls: (() => Promise<{ readonly headers: Headers }>)[]): Promise<number[]> {
  for (let tries = 1; ; tries += 1) {
    const answers: Headers[] = [];
    for (const call of calls) answers.push((await call()).headers);
    const all = (name: string): number[] => answers.map((headers) => Number(headers.get(`x-ratelimit-${name}`)));
    const [left, resets] = [all('remaining'), all('reset')];
    // rounded, so that it differs a little between answers
    if (resets.at(-1)! - resets[0]! <= 2 || tries === 3) return left.slice(1).map((rest, at) => left[at]! - rest);
  }
}
