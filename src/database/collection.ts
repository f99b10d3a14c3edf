import {
  type Connection,
  type IndexDefinition,
  type IndexOptions,
  type Model,
  Schema,
  type SchemaOptions,
} from 'mongoose';

/** A collection: its name, its schema with indexes, and the type of its rows. */
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

/**
 * Defines a collection. `shape` is a mongoose definition; indexes are created with the organisation and by `doctor --fix`,
 * those of the control database when it is opened.
 */
export function defineCollection<T extends { readonly _id: string }>(
  name: string,
  shape: Readonly<Record<string, unknown>>,
  indexes: readonly Index[],
  options: SchemaOptions = {},
): Collection<T> {
  const schema = new Schema<unknown>({}, { versionKey: false, ...options } as object) as unknown as Schema;
  schema.add(shape as Parameters<Schema['add']>[0]);
  for (const index of indexes) schema.index(index.on, index.options);
  return { name, schema };
}

/** A collection's model on a connection. */
export function modelOf<T extends { readonly _id: string }>(
  connection: Connection,
  { name, schema }: Collection<T>,
): Model<T> {
  return connection.model(name, schema, name) as unknown as Model<T>;
}
