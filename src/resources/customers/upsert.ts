import { randomUUID } from 'node:crypto';
import type { Fault } from '../../errors';
import { choose, chooseAll, type Given, upsertResolvers } from '../../stored/upsert';
import { type AddressInput, type Contact, type Customer, customers, toAddress } from './customers';

/** A contact from a caller, validated. */
type ContactInput = Pick<Contact, 'name'> & Given<Omit<Contact, 'name'>>;

/** Members of a customer that have no rules of their own. */
const CLEARED: Pick<Customer, 'email' | 'phone' | 'vat_number'> = { email: null, phone: null, vat_number: null };

/** A customer from a bulk call, validated. */
interface CustomerUpsert extends Given<typeof CLEARED> {
  readonly external_ref: string;
  /** Always set if the object is new. */
  readonly name?: string;
  readonly billing_address?: AddressInput | null;
  readonly delivery_address?: AddressInput | null;
  readonly contacts?: readonly ContactInput[] | null;
}

/** Creates and updates customers by external_ref. */
export const customerResolvers = upsertResolvers<Customer, CustomerUpsert>({
  collection: customers,
  rules: ({ contacts }) => {
    const ids = new Set<string>();
    let hasPrimary = false;
    return (contacts ?? []).flatMap(({ id, primary }, index) => {
      const errors: Fault[] = [];
      const duplicate = (member: string, detail: string): void => {
        errors.push({ pointer: `/contacts/${String(index)}/${member}`, code: 'duplicate', detail });
      };
      if (primary === true && hasPrimary) duplicate('primary', 'must be true for one contact only');
      hasPrimary ||= primary === true;
      const key = id?.toLowerCase();
      if (key !== undefined && ids.has(key)) duplicate('id', 'is that of an earlier contact');
      if (key !== undefined) ids.add(key);
      return errors;
    });
  },
  merge: (existing, input) => {
    const members = {
      external_ref: input.external_ref,
      // validation has made sure that a new object has a name
      name: choose(input.name, existing?.name, ''),
      ...chooseAll(input, existing, CLEARED),
      billing_address: chooseAddress(input.billing_address, existing?.billing_address),
      delivery_address: chooseAddress(input.delivery_address, existing?.delivery_address),
      contacts:
        input.contacts === undefined
          ? (existing?.contacts ?? [])
          : toContacts(input.contacts ?? [], existing?.contacts ?? []),
    };
    const erased = existing && 'erased_at' in existing ? { erased_at: existing.erased_at ?? null } : {};
    return { ...members, ...erased, search: customers.words(members) };
  },
});

function chooseAddress(
  given: AddressInput | null | undefined,
  existing: Customer['billing_address'] | undefined,
): Customer['billing_address'] {
  return given === undefined ? (existing ?? null) : toAddress(given);
}

type Person = Omit<Contact, 'id'>;

interface Sent extends Person {
  readonly id: string | null;
}

/** How to match contacts: first by id, then by all members, then by name and email address. */
const KNOWN_BY: readonly ((one: Contact, other: Sent) => boolean)[] = [
  (one, other) => one.id === other.id,
  (one, other) =>
    isSame(one, other) && one.role === other.role && one.phone === other.phone && one.primary === other.primary,
  isSame,
];

function isSame(one: Person, other: Person): boolean {
  return one.name === other.name && one.email === other.email;
}

/** The new contacts; those that match an existing contact keep its id. */
function toContacts(given: readonly ContactInput[], existing: readonly Contact[]): Contact[] {
  const people = given.map(({ id, name, role = null, email = null, phone = null, primary }): Sent => {
    return { id: id?.toLowerCase() ?? null, name, role, email, phone, primary: primary ?? false };
  });
  const free = new Set(existing);
  const ids = new Map<Sent, string>();
  for (const isKnown of KNOWN_BY) {
    for (const person of people.filter((candidate) => !ids.has(candidate))) {
      const known = [...free].find((contact) => isKnown(contact, person));
      if (!known) continue;
      ids.set(person, known.id);
      free.delete(known);
    }
  }
  return people.map((person) => ({ ...person, id: ids.get(person) ?? randomUUID() }));
}
