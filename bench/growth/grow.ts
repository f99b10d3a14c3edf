import type { Organisation } from '../../src/access/principal';
import { quotes } from '../../src/resources/quotes';
import type { Quote } from '../quote';
import { quotesOf } from '../data';
import { makeKeys } from '../keys';
import { insert, type Rig } from '../rig';

/** Rows per page, the product's default. */
export const PAGE = 20;
const DEPTH = 1000;
/** Number of neighbouring deep pages requested in turn, so that it is not always the same one. */
const NEIGHBOURS = 10;
/** Number of quotes to read from, spread over the whole collection. */
const SAMPLE = 20_000;
const BATCH = 1000;

export type Row = Pick<Quote, '_id' | 'number' | 'created_at'>;

/** An organisation with `size` quotes, and what the calls need to read from it. */
export interface Grown {
  readonly size: number;
  readonly organisation: Organisation;
  readonly keys: readonly string[];
  readonly sample: readonly Row[];
  /** Last rows of the pages before the 1,000th, or before the last if there are fewer. */
  readonly marks: readonly Row[];
}

/** Creates an organisation with `size` quotes, inserted as stored documents. */
export async function grow(rig: Rig, size: number): Promise<Grown> {
  const organisation = await rig.store.control.organisations.create({
    name: `${String(size)} quotes`,
    plan: 'integrations',
    currency: 'EUR',
  });
  const keys = await makeKeys(rig.store, organisation, 100, ['quotes:read']);
  const source = quotesOf(size, { lines: 3, perCustomer: 60 });
  const [sample, marks] = [[] as Row[], [] as Row[]];
  const deepest = Math.min(DEPTH, Math.floor(size / PAGE)) - 1;
  for (let made = 0; made < size; made += BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, size - made) }, () => source.next().value);
    for (const [at, { _id, number, created_at }] of batch.entries()) {
      const row = { _id, number, created_at };
      if ((made + at) % Math.ceil(size / SAMPLE) === 0) sample.push(row);
      // newest first, so the last row of page n is the one with n full pages of newer rows, itself included
      const page = (size - made - at) / PAGE;
      if (Number.isInteger(page) && page <= deepest && page > deepest - NEIGHBOURS) marks.push(row);
    }
    await insert(rig, organisation, quotes, batch);
  }
  return { size, organisation, keys, sample, marks };
}
