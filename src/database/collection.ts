import { type IndexDefinition, type IndexOptions, Schema } from 'mongoose';

/** A collection in an organisation's database: its name, its schema with indexes, and the type of its rows. */
export interface Collection<out T extends { readonly _id: string }> {
  readonly name: string;
  readonly schema: Schema;
  /** Never set; carries the type of a row. */
  readonly row?: T;
}

/** Members to exclude (0) or include (1). */
export type Projection = Readonly<Record<string, 0 | 1>>;

export interface Index {
  readonly on: IndexDefinition;
  readonly options?: IndexOptions;
}

/** Defines a collection. `shape` is a mongoose definition; indexes are created with the organisation and by `doctor --fix`. */
export function defineCollection<T extends { readonly _id: string }>(
  name: string,
  shape: Readonly<Record<string, unknown>>,
  indexes: readonly Index[],
): Collection<T> {
  const schema = new Schema<unknown>({}, { versionKey: false }) as unknown as Schema;
  schema.add(shape as Parameters<Schema['add']>[0]);
  for (const { on, options } of indexes) schema.index(on, options);
  return { name, schema };
}
