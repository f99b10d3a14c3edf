import { defineResource } from '../../stored/resource';
import type { Address } from '../../stored/address';

/** A contact at a customer. */
export interface Contact {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly role: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly primary: boolean;
}

/** A customer as stored. */
export interface Customer {
  readonly _id: string;
  readonly external_ref: string;
  readonly name: string;
  readonly email: string | null;
  readonly phone: string | null;
  readonly vat_number: string | null;
  readonly billing_address: Address | null;
  readonly delivery_address: Address | null;
  readonly contacts: readonly Contact[];
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly search: readonly string[];
}

export const customers = defineResource<Customer>({
  type: 'Customer',
  indexes: [
    { on: { external_ref: 1 }, options: { unique: true } },
    { on: { created_at: -1, _id: -1 } },
    { on: { updated_at: -1, _id: -1 } },
    { on: { name: 1, _id: 1 } },
    { on: { email: 1, created_at: -1, _id: -1 } },
    { on: { search: 1 } },
  ],
});
