import { defineResource } from '../../stored/resource';

export interface Contact {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly role: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly primary: boolean;
}

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
  /** Missing in rows that were never erased. */
  readonly erased_at?: Date | null;
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
    { on: { search: 1 } },
  ],
  retired: ['email_1_created_at_-1__id_-1'],
});

/** A postal address (contract, section 3). */
export interface Address {
  line1: string;
  line2: string | null;
  city: string;
  region: string | null;
  postcode: string | null;
  country: string;
}

/** An address from a caller, validated. */
export type AddressInput = Partial<Address> & Pick<Address, 'line1' | 'city' | 'country'>;

/** Fills omitted members of an address with null. */
export function toAddress(input: AddressInput | null | undefined): Address | null {
  if (!input) return null;
  const { line1, line2 = null, city, region = null, postcode = null, country } = input;
  return { line1, line2, city, region, postcode, country };
}
