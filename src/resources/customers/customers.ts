import { defineResource, type Row } from '../../stored/resource';
import { withOwnRules } from '../ownRules';
import { contactFaults, mergeContacts } from './contacts';

export interface Customer extends Row {
  readonly external_ref: string;
  readonly name: string;
  /** Missing in rows that were never erased. */
  readonly erased_at?: Date | null;
  readonly updated_at: Date;
}

export const customers = defineResource<Customer>('Customer', {
  ...withOwnRules('Customer'),
  merges: { contacts: mergeContacts },
  elementRules: contactFaults,
});
