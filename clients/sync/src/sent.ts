import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { type Change, type Fault, type Source, textOf } from './source.js';

/** Where an object is in the gateway. */
interface Place {
  readonly organisation: string;
  readonly ref: string;
}

/** An object that is put, or deleted. */
export interface Element extends Omit<Change, 'document'>, Place {
  readonly isDelete: boolean;
  readonly line: string;
}

/** Where a document was put: stored before it is sent, so that a deletion, or a move to another account, reaches the object. */
interface Sent {
  readonly _id: unknown;
  readonly places: readonly Place[];
  /** That of the last put. */
  readonly version: number;
}

/** The gateway's limit of a line, in bytes. */
const LONGEST_LINE = 5 * 2 ** 20;

export class SentObjects {
  constructor(
    readonly database: Db,
    readonly name: string,
    readonly onFault: (fault: Fault) => void,
  ) {}

  of({ collection }: Source): Collection<Sent & { readonly _id: never }> {
    return this.database.collection(`${this.name}.${collection}`, { writeConcern: { w: 'majority' } });
  }

  /** The elements of changes, in their order. */
  async elementsOf(changes: readonly Change[]): Promise<Element[]> {
    const elements: Element[] = [];
    for (const source of new Set(changes.map((change) => change.source))) {
      const own = changes.filter((change) => change.source === source);
      const rows = await this.of(source)
        .find({ _id: { $in: own.map(({ id }) => id as never) } })
        .toArray();
      const places = new Map(rows.map((row) => [keyOf({ source, id: row._id }), row.places]));
      const writes: AnyBulkWriteOperation<Sent & { readonly _id: never }>[] = [];
      for (const change of own) {
        const { id, version } = change;
        const put = await this.#put(change);
        if (put === 'invalid') continue;
        for (const place of places.get(keyOf(change)) ?? [])
          if (place.organisation !== put?.organisation || place.ref !== put.ref)
            elements.push({ source, id, version, ...place, isDelete: true, line: lineOf(change, place) });
        if (!put) continue;
        elements.push(put);
        const update = { $addToSet: { places: { organisation: put.organisation, ref: put.ref } }, $max: { version } };
        writes.push({ updateOne: { filter: { _id: id as never }, update, upsert: true } });
      }
      if (writes.length > 0) await this.of(source).bulkWrite(writes, { ordered: false });
    }
    return elements;
  }

  /** Forgets an object that was deleted, unless it was put again since. */
  async forget({ source, id, organisation, ref, version }: Element): Promise<void> {
    const filter = { _id: id as never, version: { $lte: version } };
    await this.of(source).bulkWrite([
      { updateOne: { filter, update: { $pull: { places: { organisation, ref } } } } },
      { deleteOne: { filter: { _id: id as never, places: [] } } },
    ]);
  }

  /** What puts a document; undefined if the API shall not have it. What throws goes to `onFault`. */
  async #put(change: Change): Promise<Element | 'invalid' | undefined> {
    const { source, id, document, version } = change;
    try {
      const account = document && (await source.organisation(document));
      const mapped = document && account !== undefined && account !== null && (await source.map(document));
      if (!mapped) return undefined;
      const place = { organisation: textOf(account), ref: mapped.external_ref ?? textOf(id) };
      const line = lineOf(change, place, mapped);
      if (Buffer.byteLength(line) > LONGEST_LINE) throw new RangeError('more than 5 MiB of JSON');
      return { source, id, version, ...place, isDelete: false, line };
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : String(cause);
      this.onFault({ collection: source.collection, id, errors: [{ pointer: '', code: 'map', detail }], cause });
      return 'invalid';
    }
  }
}

export const keyOf = ({ source, id }: Pick<Change, 'source' | 'id'>): string =>
  `${source.collection} ${typeof id} ${JSON.stringify(id)}`;

function lineOf({ source: { type }, version }: Change, { organisation, ref }: Place, put?: object): string {
  const action = put ? { put: { ...put, external_ref: ref } } : { delete: { external_ref: ref } };
  return JSON.stringify({ organisation: `ref:${organisation}`, type, ...action, version });
}
