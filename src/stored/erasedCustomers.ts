import type { ClientSession } from 'mongoose';
import { atMost, READ_TIMEOUT } from '../mongo/native';
import type { OrganisationData } from '../tenant/organisationData';
import type { Fault } from '../errors';
import { published } from '../schema/model';
import { ERASED_AT, erasedMembers, PERSON, typesOfCustomer } from '../schema/personal';
import type { StoredType } from '../schema/storedTypes';
import { erasedFault, isSameMember } from './rows';

/* Objects of erased customers, which take no personal data, so that nothing brings back what an erasure removed (docs/decisions/organisation-life.md). */

interface Typed {
  readonly stored: StoredType;
}

type Members = Readonly<Record<string, unknown>>;

const PEOPLE = published.stored.get(PERSON);
/** By type: what replaces its personal members in an erasure. */
const ERASED_MEMBERS = new Map<string, Members>();
/** By type: its members with the id of a customer. */
const CUSTOMER_MEMBERS = new Map<string, readonly string[]>();
for (const { stored, customerMembers, parts } of typesOfCustomer(published.stored)) {
  for (const one of [stored, ...parts]) ERASED_MEMBERS.set(one.type, erasedMembers(published, one));
  // an erased customer itself takes no writes at all (erasedFault)
  if (stored !== PEOPLE) CUSTOMER_MEMBERS.set(stored.type, customerMembers);
}

/** Whether a row has personal data, which an erasure of its customer would remove. */
export function hasPersonalData({ stored }: Typed, row: object): boolean {
  const members = row as Members;
  return Object.entries(ERASED_MEMBERS.get(stored.type) ?? {}).some(
    ([name, erased]) => (members[name] ?? null) !== null && !isSameMember(name, members[name], erased),
  );
}

/** The ids of erased customers that rows refer to. */
export async function erasedCustomersOf(
  data: OrganisationData,
  { stored }: Typed,
  rows: Iterable<object | undefined>,
  session: ClientSession,
): Promise<ReadonlySet<string>> {
  const members = CUSTOMER_MEMBERS.get(stored.type) ?? [];
  const referredIds = [...rows].flatMap((row) => members.map((member) => (row as Members | undefined)?.[member]));
  const ids = [...new Set(referredIds.filter((id) => typeof id === 'string'))];
  const customers = data.collections.find(({ name }) => name === PEOPLE?.collection);
  if (!customers || ids.length === 0) return new Set();
  const filter = { _id: { $in: ids }, [ERASED_AT]: { $ne: null } };
  const options = { session, projection: { _id: 1 }, maxTimeMS: READ_TIMEOUT, ...atMost(ids.length) };
  // all customers': a restricted key may store rows of its own alone, but those may refer to others, too
  const found = await data.whole.collection(customers).find(filter, options).toArray();
  return new Set(found.map(({ _id }) => _id));
}

/** The fault of a row that refers to one of these erased customers. Undefined if it may have personal data. */
export function erasedCustomerFault(
  { stored }: Typed,
  row: object | undefined,
  erased: ReadonlySet<string>,
  pointer: string,
): Fault | undefined {
  const members = CUSTOMER_MEMBERS.get(stored.type) ?? [];
  const member = members.find((name) => erased.has((row as Members | undefined)?.[name] as string));
  return member === undefined ? undefined : erasedFault({ [ERASED_AT]: true }, `${pointer}/${member}`);
}

/** The fault of storing a row with personal data of an erased customer. */
export async function personalDataFault(
  data: OrganisationData,
  resource: Typed,
  row: object,
  session: ClientSession,
): Promise<Fault | undefined> {
  if (!hasPersonalData(resource, row)) return undefined;
  return erasedCustomerFault(resource, row, await erasedCustomersOf(data, resource, [row], session), '');
}
