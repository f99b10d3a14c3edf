import { Schema } from 'mongoose';
import { defineCollection } from '../../database/collection';
import { type Address, ADDRESS_SHAPE, date, flag, optionalText, search, text } from '../common/shape';

/** A person at a customer's. */
export interface Contact {
  /** UUID. */
  readonly id: string;
  readonly name: string;
  readonly role: string | null;
  readonly email: string | null;
  readonly phone: string | null;
  readonly primary: boolean;
}

/** A customer as its organisation's database keeps it. */
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

const address = { type: new Schema(ADDRESS_SHAPE, { _id: false }), default: null };
const contact = new Schema(
  { id: text, name: text, role: optionalText, email: optionalText, phone: optionalText, primary: flag },
  { _id: false },
);

export const customers = defineCollection<Customer>(
  'customers',
  {
    _id: text,
    external_ref: text,
    name: text,
    email: optionalText,
    phone: optionalText,
    vat_number: optionalText,
    billing_address: address,
    delivery_address: address,
    contacts: [contact],
    created_at: date,
    updated_at: date,
    search,
  },
  [
    { on: { external_ref: 1 }, options: { unique: true } },
    { on: { created_at: -1, _id: -1 } },
    { on: { updated_at: -1, _id: -1 } },
    { on: { name: 1, _id: 1 } },
    { on: { email: 1, created_at: -1, _id: -1 } },
    { on: { search: 1 } },
  ],
);
