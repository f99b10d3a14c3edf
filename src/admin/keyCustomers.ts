import { READ_TIMEOUT } from '../mongo/native';
import { published } from '../schema/model';
import { PERSON } from '../schema/personal';
import type { OrganisationData } from '../tenant/organisationData';

/** The customers of a key as they are stored: each once, in one order. */
export const storedCustomerIds = (ids: readonly string[]): string[] =>
  [...new Set(ids.map((id) => id.toLowerCase()))].sort();

/** Which of these ids, at most 100, are of no customer of the organisation. */
export async function unknownCustomers(data: OrganisationData, ids: readonly string[]): Promise<string[]> {
  const name = published.stored.get(PERSON)?.collection;
  const customers = data.collections.find((collection) => collection.name === name);
  if (!customers) throw new Error(`schema/ has no stored ${PERSON}`);
  const wanted = storedCustomerIds(ids);
  const options = { projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT, batchSize: wanted.length + 1 } as const;
  const rows = await data
    .collection(customers)
    .find({ _id: { $in: wanted } }, options)
    .toArray();
  const existing = new Set(rows.map(({ _id }) => _id));
  return ids.filter((id) => !existing.has(id.toLowerCase()));
}
