import { type Fault, validationFailed } from '../errors';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import { normalised } from '../schema/callerKeys';
import { published } from '../schema/model';
import { PERSON } from '../schema/personal';
import type { OrganisationData } from '../tenant/organisationData';
import { splitName, splitNames } from '../units';

interface FoundCustomers {
  /** Their ids as they are stored: each once, in one order. */
  readonly ids: string[];
  /** The names, as given, of no customer of the organisation. */
  readonly unknown: string[];
}

/**
 * Finds customers of an organisation, erased ones too, by names: their ids, in upper or lower case, or `ref:` and their external_ref. There must be 1 to
 * 100 names, which the SDL checks.
 */
export async function findCustomers(data: OrganisationData, names: readonly string[]): Promise<FoundCustomers> {
  const collection = published.stored.get(PERSON)?.collection;
  const customers = data.collections.find(({ name }) => name === collection);
  if (!customers) throw new Error(`schema/ has no stored ${PERSON}`);
  const wanted = splitNames(names);
  const options = {
    projection: { _id: 1, external_ref: 1 },
    maxTimeMS: READ_TIMEOUT,
    ...atMost(names.length),
  } as const;
  const rows = await data
    .collection(customers)
    .find<{ readonly _id: string; readonly external_ref: string }>(
      { $or: [{ _id: { $in: wanted.ids } }, { external_ref: { $in: wanted.refs.map(normalised) } }] },
      options,
    )
    .toArray();
  const ids = new Set(rows.map(({ _id }) => _id));
  const refs = new Set(rows.map(({ external_ref }) => external_ref));
  const unknown = names.filter((name) => {
    const { id, ref } = splitName(name);
    return !(ref === undefined ? ids.has(id) : refs.has(normalised(ref)));
  });
  return { ids: [...ids].sort(), unknown };
}

/** The customers that a new key or webhook endpoint is restricted to; undefined, for all customers, if no list is given. @throws AppError validation_failed for each that is not there */
export async function customersOf(
  data: OrganisationData,
  names: readonly string[] | null | undefined,
): Promise<string[] | undefined> {
  if (!names) return undefined;
  const { ids, unknown } = await findCustomers(data, names);
  const faults = names.flatMap((name, at): Fault[] => {
    if (!unknown.includes(name)) return [];
    return [
      { pointer: `/customer_ids/${String(at)}`, code: 'not_found', detail: 'is not a customer of the organisation' },
    ];
  });
  if (faults.length > 0) throw validationFailed(faults);
  return ids;
}
