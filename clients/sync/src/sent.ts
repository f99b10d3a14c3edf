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
    readonly sources: readonly Source[],
  ) {}

  of({ collection }: Source): Collection<Sent & { readonly _id: never }> {
    // a secondary may not have the latest rows
    return this.database.collection(`${this.name}.${collection}`, {
      readPreference: 'primary',
      writeConcern: { w: 'majority' },
    });
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
    return this.#withoutShared(elements);
  }

  /** Forgets that documents were put where they are deleted, unless they were put again since. */
  async forget(deletions: readonly Element[]): Promise<void> {
    for (const source of new Set(deletions.map((element) => element.source))) {
      const own = deletions.filter((element) => element.source === source);
      await this.of(source).bulkWrite(
        own.flatMap(({ id, organisation, ref, version }) => [
          {
            updateOne: {
              filter: { _id: id as never, version: { $lte: version } },
              update: { $pull: { places: { organisation, ref } } },
            },
          },
          { deleteOne: { filter: { _id: id as never, places: [] } } },
        ]),
      );
    }
  }

  /**
   * Leaves out deletions of objects that another document was put as, too, such as the new document of a product that an import dropped and
   * inserted again: that its own document was put there is only forgotten. Called once the rows of what is put are stored.
   */
  async #withoutShared(elements: readonly Element[]): Promise<Element[]> {
    const deletions = elements.filter(({ isDelete }) => isDelete);
    const documents = new Map<string, Set<string>>();
    for (const source of this.sources) {
      const places = deletions
        .filter((element) => element.source.type === source.type)
        .map(({ organisation, ref }) => ({ organisation, ref }));
      if (places.length === 0) continue;
      // each time, as it goes when the collection is dropped
      await this.of(source).createIndex({ places: 1 });
      for await (const row of this.of(source).find({ places: { $in: places } }))
        for (const place of row.places) {
          const object = objectOf({ source, ...place });
          documents.set(object, (documents.get(object) ?? new Set()).add(keyOf({ source, id: row._id })));
        }
    }
    const shared = new Set(
      deletions.filter((element) => {
        const others = documents.get(objectOf(element));
        // the last of several that go together deletes the object
        others?.delete(keyOf(element));
        return others && others.size > 0;
      }),
    );
    await this.forget([...shared]);
    return elements.filter((element) => !shared.has(element));
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

/** The object that an element is of. */
export const objectOf = ({ source, organisation, ref }: Pick<Element, 'source' | keyof Place>): string =>
  JSON.stringify([source.type, organisation, ref]);

/** The line of an object that is put, of which it takes the JSON, or deleted. */
function lineOf({ source: { type }, version }: Change, { organisation, ref }: Place, put?: string): string {
  const [action, object] = put === undefined ? ['delete', JSON.stringify({ external_ref: ref })] : ['put', put];
  const others = JSON.stringify({ organisation: `ref:${organisation}`, type, version });
  return `${others.slice(0, -1)},"${action}":${object}}`;
}
