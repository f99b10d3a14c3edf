import { randomUUID } from 'node:crypto';
import type { Fault } from '../../errors';

/* The contacts of a customer: which of those that a caller sends are contacts that the customer has already, and so keep their id. */

export interface Contact {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly role: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly primary: boolean;
}

/** A contact from a caller, validated. */
type ContactInput = Pick<Contact, 'name'> & {
  readonly [Member in Exclude<keyof Contact, 'name'>]?: Contact[Member] | null;
};

/** A fault for each primary contact after the first. */
export function contactFaults({ contacts }: { readonly contacts?: readonly ContactInput[] | null }): Fault[] {
  const primary = [...(contacts ?? []).entries()].filter(([, contact]) => contact.primary === true);
  return primary.slice(1).map(([index]) => {
    const pointer = `/contacts/${String(index)}/primary`;
    return { pointer, code: 'duplicate', detail: 'must be true for one contact only' };
  });
}

type Person = Omit<Contact, 'id'>;

interface Sent extends Person {
  readonly id: string | null;
}

/** How a stored contact is recognised in one that was sent: first by id, then by all members, then by name and email address. */
const MATCHERS: readonly ((contact: Contact, sent: Sent) => boolean)[] = [
  (contact, sent) => contact.id === sent.id,
  (contact, sent) =>
    isSame(contact, sent) &&
    contact.role === sent.role &&
    contact.phone === sent.phone &&
    contact.primary === sent.primary,
  isSame,
];

function isSame(left: Person, right: Person): boolean {
  return left.name === right.name && left.email === right.email;
}

/**
 * The whole new list. A contact that matches a stored one keeps its id, and nothing else: members that are left out are cleared. An id that
 * no stored contact has is ignored.
 */
export function mergeContacts(contacts: readonly ContactInput[], stored: unknown): Contact[] {
  const existing = (stored ?? []) as readonly Contact[];
  const people = contacts.map(({ id, name, role = null, email = null, phone = null, primary }): Sent => {
    return { id: id?.toLowerCase() ?? null, name, role, email, phone, primary: primary ?? false };
  });
  const unmatched = new Set(existing);
  const ids = new Map<Sent, string>();
  for (const isMatch of MATCHERS) {
    for (const person of people.filter((candidate) => !ids.has(candidate))) {
      const match = [...unmatched].find((contact) => isMatch(contact, person));
      if (!match) continue;
      ids.set(person, match.id);
      unmatched.delete(match);
    }
  }
  return people.map((person) => ({ ...person, id: ids.get(person) ?? randomUUID() }));
}
