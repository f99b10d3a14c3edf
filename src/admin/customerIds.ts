import { type Fault, validationFailed } from '../errors';
import { READ_TIMEOUT } from '../mongo/native';
import { published } from '../schema/model';
import { PERSON } from '../schema/personal';
import type { OrganisationData } from '../tenant/organisationData';

/** The customers of a key or webhook endpoint as they are stored: each once, in one order. */
const storedCustomerIds = (ids: readonly string[]): string[] => [...new Set(ids.map((id) => id.toLowerCase()))].sort();

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

/** The customers that a new key or webhook endpoint is restricted to; undefined for none. @throws AppError validation_failed for each that is not there */
export async function customersOf(
  data: OrganisationData,
  ids: readonly string[] | null | undefined,
): Promise<string[] | undefined> {
  if (!ids) return undefined;
  const unknown = new Set(await unknownCustomers(data, ids));
  const faults = ids.flatMap((id, at): Fault[] => {
    if (!unknown.has(id)) return [];
    const detail = 'is not the id of a customer of the organisation';
    return [{ pointer: `/customer_ids/${String(at)}`, code: 'not_found', detail }];
  });
  if (faults.length > 0) throw validationFailed(faults);
  return storedCustomerIds(ids);
}
