import type { AnyBulkWriteOperation, Collection, Db } from 'mongodb';
import { jsonOf, LONGEST_LINE, tooLong, UnusableError } from './json.js';
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

export class SentObjects {
  constructor(
    readonly database: Db,
    readonly name: string,
  ) {}

  of({ collection }: Source): Collection<Sent & { readonly _id: never }> {
    return this.database.collection(`${this.name}.${collection}`, { writeConcern: { w: 'majority' } });
  }

  /** The elements of changes, in their order. */
  async elementsOf(changes: readonly Change[], onFault: (fault: Fault) => void): Promise<Element[]> {
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
        const put = await this.#put(change, onFault);
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
  async #put(change: Change, onFault: (fault: Fault) => void): Promise<Element | 'invalid' | undefined> {
    const { source, id, document, version } = change;
    if (!document) return undefined;
    let known: Pick<Fault, 'organisation' | 'external_ref'> = {};
    try {
      const account = await source.organisation(document);
      if (account === undefined || account === null) return undefined;
      const organisation = textOf(account);
      known = { organisation };
      const mapped = await source.map(document);
      if (!mapped) return undefined;
      const ref = mapped.external_ref ?? textOf(id);
      known = { organisation, external_ref: ref };
      const line = lineOf(change, { organisation, ref }, jsonOf({ ...mapped, external_ref: ref }));
      if (Buffer.byteLength(line) > LONGEST_LINE) throw tooLong();
      return { source, id, version, organisation, ref, isDelete: false, line };
    } catch (cause) {
      const detail = cause instanceof Error ? cause.message : String(cause);
      const errors = cause instanceof UnusableError ? cause.errors : [{ pointer: '', code: 'map', detail }];
      onFault({ collection: source.collection, id, ...known, errors, cause });
      return 'invalid';
    }
  }
}

export const keyOf = ({ source, id }: Pick<Change, 'source' | 'id'>): string =>
  `${source.collection} ${typeof id} ${JSON.stringify(id)}`;

/** The line of an object that is put, of which it takes the JSON, or deleted. */
function lineOf({ source: { type }, version }: Change, { organisation, ref }: Place, put?: string): string {
  const [action, object] = put === undefined ? ['delete', JSON.stringify({ external_ref: ref })] : ['put', put];
  const others = JSON.stringify({ organisation: `ref:${organisation}`, type, version });
  return `${others.slice(0, -1)},"${action}":${object}}`;
}
