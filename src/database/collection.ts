import { type Connection, type Model, Schema, type SchemaOptions } from 'mongoose';

/** A collection: its name, its schema, its indexes, and the type of its rows. */
export interface Collection<out T extends { readonly _id: string }> {
  readonly name: string;
  readonly schema: Schema;
  /** Without the one of `_id`, which every collection has. */
  readonly indexes: readonly Index[];
  /** Names of indexes that earlier versions made and no query needs any more; `doctor --fix` drops them. */
  readonly retired: readonly string[];
  /** Never set; carries the type of a row. */
  readonly row?: T;
}

/** Members to exclude (0) or include (1). */
export type Projection = Readonly<Record<string, 0 | 1>>;

/** Search words are never returned. */
export const WITHOUT_SEARCH: Projection = { search: 0 };

export interface Index {
  readonly on: Readonly<Record<string, 1 | -1>>;
  readonly options?: {
    /** By default what MongoDB would call it. */
    readonly name?: string;
    readonly unique?: true;
    readonly sparse?: true;
    readonly expireAfterSeconds?: number;
  };
}

/** Defines a collection. `shape` is a mongoose definition; src/database/making.ts makes the collection with its indexes. */
export function defineCollection<T extends { readonly _id: string }>(
  name: string,
  shape: Readonly<Record<string, unknown>>,
  indexes: readonly Index[],
  { retired = [], ...options }: SchemaOptions & { readonly retired?: readonly string[] | undefined } = {},
): Collection<T> {
  const schema = new Schema<unknown>({}, { versionKey: false, ...options } as object) as unknown as Schema;
  schema.add(shape as Parameters<Schema['add']>[0]);
  return { name, schema, indexes, retired };
}

/**
 * Defines a collection whose rows are checked before they are stored, so that mongoose has to know only ids, and the `times` by which pages
 * are sorted.
 */
export function definedByType<T extends { readonly _id: string }>(
  name: string,
  indexes: readonly Index[],
  times: readonly (keyof T & string)[] = [],
  retired?: readonly string[],
): Collection<T> {
  const shape = { _id: String, ...Object.fromEntries(times.map((member) => [member, Date])) };
  return defineCollection<T>(name, shape, indexes, {
    ...{ strict: false, strictQuery: false, minimize: false },
    retired,
  });
}

/** A collection's model on a connection. */
export function modelOf<T extends { readonly _id: string }>(
  connection: Connection,
  { name, schema }: Collection<T>,
): Model<T> {
  return connection.model(name, schema, name) as unknown as Model<T>;
}
