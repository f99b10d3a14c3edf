/* Building blocks of Mongoose shapes. Values are validated earlier, against the SDL. */

/** A string that may be empty but not null. */
export const text = { type: String, required: true } as const;
export const optionalText = { type: String, default: null } as const;
export const number = { type: Number, required: true } as const;
export const optionalNumber = { type: Number, default: null } as const;
export const flag = { type: Boolean, required: true } as const;
export const date = { type: Date, required: true } as const;
export const optionalDate = { type: Date, default: null } as const;
/** Normalised words for prefix search; never returned. */
export const search = { type: [String], required: true } as const;

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

export const ADDRESS_SHAPE = {
  line1: text,
  line2: optionalText,
  city: text,
  region: optionalText,
  postcode: optionalText,
  country: text,
} as const;

/** Fills omitted members of an address with null. */
export function toAddress(input: AddressInput | null | undefined): Address | null {
  if (!input) return null;
  const { line1, line2 = null, city, region = null, postcode = null, country } = input;
  return { line1, line2, city, region, postcode, country };
}
