import type { Connection } from 'mongoose';
import type { Collection } from '../database/collection';
import { isDuplicateKey } from '../database/faults';
import { indexesOf, createIndexes } from '../database/indexes';
import { databaseOf } from '../database/native';

/* Which indexes the control database has, so that opening it takes one read instead of one command per collection. */

/** Raise it whenever an index of the control database is added or changed; test/unit/controlSchema.test.ts checks that you did. */
export const CONTROL_SCHEMA = 10;

interface SchemaDocument {
  readonly _id: 'schema';
  readonly version: number;
}

/** The control database was made by a later version of this program. */
export class NewerSchemaError extends Error {
  override readonly name = 'NewerSchemaError';

  constructor(database: string, version: number) {
    super(
      `the control database ${database} has schema version ${String(version)}, but this version of scopegate knows only ${String(CONTROL_SCHEMA)}: run the version that made it, or a later one`,
    );
  }
}

/**
 * Creates the indexes of the control database, unless this version's exist already. Concurrent calls are safe: each index is
 * created once, and the stored version never goes down. @throws NewerSchemaError
 */
export async function adoptSchema(
  control: Connection,
  collections: readonly Collection<{ readonly _id: string }>[],
): Promise<void> {
  const rows = databaseOf(control).collection<SchemaDocument>('deployment');
  const version = (await rows.findOne({ _id: 'schema' }))?.version ?? 0;
  if (version > CONTROL_SCHEMA) throw new NewerSchemaError(control.name, version);
  if (version === CONTROL_SCHEMA) return;
  await Promise.all(
    collections.map((definition) => createIndexes(databaseOf(control), definition, indexesOf(definition))),
  );
  try {
    await rows.updateOne({ _id: 'schema' }, { $max: { version: CONTROL_SCHEMA } }, { upsert: true });
  } catch (error) {
    // another start stored it at the same moment
    if (!isDuplicateKey(error)) throw error;
  }
}
