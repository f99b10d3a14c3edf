import { type Client, type Json } from './client';
import { ask, call, type Face, FACES, type Outcome } from './faces';

/** A bulk upsert and the members of its elements. */
export interface Upsert {
  readonly list: 'products' | 'customers';
  /** The member by which elements are matched. */
  readonly key: 'sku' | 'external_ref';
  /** A value for every optional member, different from its default. */
  readonly full: Json;
  /** The same members when omitted or null. */
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
      metadata: { colour: 'zinc', 'erp.id': '7' },
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
      metadata: {},
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
      metadata: { crm: '7' },
    },
    cleared: {
      email: null,
      phone: null,
      vat_number: null,
      billing_address: null,
      delivery_address: null,
      contacts: [],
      metadata: {},
    },
  },
];

/** Every bulk upsert with each of its APIs, for `describe.each`. */
export const UPSERT_CALLS = UPSERTS.flatMap((kind) =>
  FACES.map((face) => ({ list: kind.list, kind, face, face_name: face.name })),
);

let made = 0;

export function newKey(): string {
  return `KEY-${String((made += 1))}`;
}

/** Helpers for one kind of upsert, in one API, by one caller. */
export function upserting(kind: Upsert, face: Face, caller: () => Client) {
  const { list, key } = kind;
  const operation = `upsert_${list}`;
  return {
    call: (elements: readonly Json[], options: Json = {}): Promise<Outcome> =>
      call(face, caller(), operation, { [list]: elements, ...options }),
    report: (elements: readonly Json[], options: Json = {}): Promise<Json> =>
      ask(face, caller(), operation, { [list]: elements, ...options }),
    element: (members: Json = {}): Json => ({ [key]: newKey(), name: 'Hex bolt', ...members }),
    /** The row stored under an element's key, as listed; undefined if there is none. */
    stored: async (element: Json): Promise<Json> => (await ask(face, caller(), list, { [key]: element[key] })).data[0],
  };
}

/** A row without members set by the server: its id, its contacts' ids and its timestamps. */
export function written(row: Json): Json {
  const { attachments: _attachments, id: _id, created_at: _createdAt, updated_at: _updatedAt, ...members } = row;
  if (!('contacts' in members)) {
    const { external_ref: _externalRef, ...given } = members;
    return given;
  }
  const { erased_at: _erasedAt, ...given } = members;
  return { ...given, contacts: members.contacts.map(({ id: _contactId, ...contact }: Json) => contact) };
}

export function upsertOf(list: Upsert['list']): Upsert {
  return UPSERTS.find((kind) => kind.list === list)!;
}
