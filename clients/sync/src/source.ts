import type { Document, Timestamp } from 'mongodb';

/** One collection of your database, and what the API shows of it. */
export interface Source {
  /** Name of the collection. */
  readonly collection: string;
  readonly type: 'customer' | 'product' | 'quote' | 'order' | 'request' | 'message';
  /** Your id of the account that a document belongs to, which is the `external_ref` of its organisation, or a promise of it; null if it is not to be sent. */
  organisation(document: Document): unknown;
  /** A document as the API has it. Its `external_ref` is `_id` as text, unless you give one. Null if the API shall not have it (any more). */
  map(document: Document): Mapped | null | Promise<Mapped | null>;
}

export type Mapped = Readonly<Record<string, unknown>> & { readonly external_ref?: string };

/** Why a document was not stored. It is sent again when it changes, and by `backfill`. */
export interface Fault {
  readonly collection: string;
  readonly id: unknown;
  readonly organisation?: string;
  readonly external_ref?: string;
  /** Of the gateway, with pointers such as `/put/total_minor`; or one with the code `map` if `organisation` or `map` threw `cause`. */
  readonly errors: readonly { readonly pointer: string; readonly code: string; readonly detail: string }[];
  readonly cause?: unknown;
}

/** A document that was changed, or that is gone. */
export interface Change {
  readonly source: Source;
  readonly id: unknown;
  readonly document: Document | undefined;
  readonly version: number;
}

const INCREMENT_BITS = 21n;

/**
 * The version of a change: the seconds of its cluster time and then the increment, as one integer. Seconds have 32 bits in MongoDB (until
 * 2106), so it is at most 2^53 - 1. The increment counts the writes of a second; were there more than 2^21, the last versions of that
 * second would be equal, and the gateway applies equal ones in the order of their arrival.
 */
export function versionOf(time: Timestamp): number {
  const [bits, last] = [time.toBigInt(), 2n ** INCREMENT_BITS - 1n];
  const increment = BigInt.asUintN(32, bits);
  return Number(((bits >> 32n) << INCREMENT_BITS) + (increment < last ? increment : last));
}

/** An id as text. @throws TypeError if it has none */
export function textOf(id: unknown): string {
  const text = String(id);
  if (text.startsWith('[object '))
    throw new TypeError('an _id without a text of its own: return `external_ref` from `map`');
  return text;
}
