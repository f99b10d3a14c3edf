import { type Client, type Json } from './client';
import { ask, call, type Face, type Outcome } from './faces';

/** A bulk upsert: how it is called, and what its elements may hold. */
export interface Upsert {
  readonly list: 'products' | 'customers';
  /** The member that an element is matched by. */
  readonly key: 'sku' | 'external_ref';
  /** A value of every optional member, none of them its default. */
  readonly full: Json;
  /** The same members where they were never given, or given as null. */
  readonly cleared: Json;
}

const ADDRESS = {
  line1: '1 Mill Lane',
  line2: 'Yard 3',
  city: 'Leeds',
  region: 'W Yorks',
  postcode: 'LS1',
  country: 'UK',
};

export const UPSERTS: readonly Upsert[] = [
  {
    list: 'products',
    key: 'sku',
    full: {
      description: 'Zinc plated',
      category: 'Bolts',
      uom: 'box',
      currency: 'EUR',
      unit_price_minor: 1250,
      vat_exempt: true,
      lead_time_days: 14,
      active: false,
    },
    cleared: {
      description: null,
      category: null,
      uom: 'each',
      currency: 'USD',
      unit_price_minor: null,
      vat_exempt: false,
      lead_time_days: null,
      active: true,
    },
  },
  {
    list: 'customers',
    key: 'external_ref',
    full: {
      email: 'office@mill.example',
      phone: '+44 113 496 0000',
      vat_number: 'GB123456789',
      billing_address: ADDRESS,
      delivery_address: { ...ADDRESS, line2: null, region: null, postcode: null },
      contacts: [{ name: 'Ann Lee', role: 'Buyer', email: 'ann@mill.example', phone: '1', primary: true }],
    },
    cleared: {
      email: null,
      phone: null,
      vat_number: null,
      billing_address: null,
      delivery_address: null,
      contacts: [],
    },
  },
];

let made = 0;

/** A key that no element had before. */
export function newKey(): string {
  return `KEY-${String((made += 1))}`;
}

/** An upsert of a kind, on a face, by a caller, with what tests look at. */
export function upserting(kind: Upsert, face: Face, caller: () => Client) {
  const { list, key } = kind;
  const operation = `upsert_${list}`;
  return {
    /** Calls it; the outcome may be a problem. */
    call: (elements: readonly Json[], options: Json = {}): Promise<Outcome> =>
      call(face, caller(), operation, { [list]: elements, ...options }),
    /** Calls it; gives the report. */
    report: (elements: readonly Json[], options: Json = {}): Promise<Json> =>
      ask(face, caller(), operation, { [list]: elements, ...options }),
    /** An element with the members every one needs. */
    element: (members: Json = {}): Json => ({ [key]: newKey(), name: 'Hex bolt', ...members }),
    /** What is stored under the key of an element, as its list shows it; undefined for nothing. */
    stored: async (element: Json): Promise<Json> => (await ask(face, caller(), list, { [key]: element[key] })).data[0],
  };
}

/** A row without what the server gives it: its own id, its contacts' ids, and its times. */
export function written(row: Json): Json {
  const { id: _id, created_at: _createdAt, updated_at: _updatedAt, ...members } = row;
  if (!('contacts' in members)) return members;
  return { ...members, contacts: members.contacts.map(({ id: _contactId, ...contact }: Json) => contact) };
}

/** The kind that writes a list. */
export function upsertOf(list: Upsert['list']): Upsert {
  return UPSERTS.find((kind) => kind.list === list)!;
}
