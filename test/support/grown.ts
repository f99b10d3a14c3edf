import type { mongo } from 'mongoose';
import { GATEWAY_COLLECTIONS } from '../../src/cli/store';
import { collectionNames, differenceOf, indexesOf, createIndexes } from '../../src/mongo/indexes';
import { collections } from '../../src/resources';

/** Gives the collections of an organisation every index, as if each had grown past the rows of a small one. */
export async function grow(database: mongo.Db): Promise<void> {
  const there = await collectionNames(database);
  for (const definition of [...collections, ...GATEWAY_COLLECTIONS].filter(({ name }) => there.has(name))) {
    const { isSmall } = await differenceOf(database, definition);
    if (isSmall) await createIndexes(database, definition, indexesOf(definition));
  }
}
