/** A postal address (contract, section 3). */
export interface Address {
  line1: string;
  line2: string | null;
  city: string;
  region: string | null;
  postcode: string | null;
  country: string;
}

/** A validated address of a caller. */
export type AddressInput = Partial<Address> & Pick<Address, 'line1' | 'city' | 'country'>;

/** Fills omitted members of an address with null. */
export function toAddress(input: AddressInput | null | undefined): Address | null {
  if (!input) return null;
  const { line1, line2 = null, city, region = null, postcode = null, country } = input;
  return { line1, line2, city, region, postcode, country };
}
