import type { Fault } from '../../errors';
import { defineResource, type Row } from '../../stored/resource';
import { withOwnRules } from '../ownRules';

export interface Customer extends Row {
  readonly external_ref: string;
  readonly name: string;
  /** Missing in rows that were never erased. */
  readonly erased_at?: Date | null;
  readonly updated_at: Date;
}

/** What a caller sends of contacts, as far as rules ask for it. */
interface ContactsInput {
  readonly contacts?: readonly { readonly primary?: boolean | null }[] | null;
}

/** A fault for each primary contact after the first. */
function contactFaults({ contacts }: ContactsInput): Fault[] {
  const primary = [...(contacts ?? []).entries()].filter(([, contact]) => contact.primary === true);
  return primary.slice(1).map(([index]) => {
    const pointer = `/contacts/${String(index)}/primary`;
    return { pointer, code: 'duplicate', detail: 'must be true for one contact only' };
  });
}

export const customers = defineResource<Customer>('Customer', {
  ...withOwnRules('Customer'),
  gatewayIds: ['contacts'],
  elementRules: contactFaults,
});
