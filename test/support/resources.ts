import type { ImportRecord } from '../../src/stored/records';
import type { FieldDefinitionNode } from 'graphql';
import { published } from '../../src/schema/model';
import { directiveOf } from '../../src/schema/sdl';
import { namedType } from '../../src/sdl/nodes';
import type { StoredMember, StoredType } from '../../src/schema/storedTypes';
import type { Json } from './client';
import type { Arguments } from './faces';
import { northwind } from './factories';
import { addedMembers, HAS_OWN_SCHEMA, withProjects } from './ownRows';

/*
 * The resources as described in sections 2 and 3 of the contract, and the expected content of their lists, computed from
 * the records of a file.
 */

export type ListName = 'products' | 'customers' | 'quotes' | 'orders' | 'requests';

export interface Filter {
  readonly args: Arguments;
  /** Whether a row, as returned by the API, matches. */
  readonly keeps: (row: Json) => boolean;
}

export interface Resource {
  readonly list: ListName;
  /** The operation that reads one object. */
  readonly one: string;
  /** Sort member besides created_at and updated_at. */
  readonly order?: 'number' | 'name';
  /** Exactly the members in section 3 of the contract. */
  readonly members: string;
  /** Members of members. */
  readonly nested: Readonly<Record<string, string>>;
}

const ADDRESS = 'line1 line2 city region postcode country';
const ATTACHMENT = 'id file_name content_type size sha256 created_at';
const LINE = 'id position line_type description qty uom unit_price_minor discount_pct vat_exempt lead_time_days';
const AMOUNTS = 'currency subtotal_minor discount_minor vat_minor total_minor';
const TIMES = 'created_at updated_at';

/** Written out, so that the contract cannot change unnoticed. */
const OF_CONTRACT: readonly Resource[] = [
  {
    list: 'products',
    one: 'product',
    order: 'name',
    members: `id sku external_ref name description category uom currency unit_price_minor vat_exempt lead_time_days active metadata attachments ${TIMES}`,
    nested: { attachments: ATTACHMENT },
  },
  {
    list: 'customers',
    one: 'customer',
    order: 'name',
    members: `id external_ref name email phone vat_number billing_address delivery_address contacts erased_at metadata ${TIMES}`,
    nested: {
      billing_address: ADDRESS,
      delivery_address: ADDRESS,
      contacts: 'id name role email phone primary',
    },
  },
  {
    list: 'quotes',
    one: 'quote',
    order: 'number',
    members: `id number external_ref status ${AMOUNTS} valid_until customer_id sent_at decided_at metadata ${TIMES} lines${HAS_OWN_SCHEMA ? ' project_code' : ''}`,
    nested: { lines: LINE },
  },
  {
    list: 'orders',
    one: 'order',
    order: 'number',
    members: `id number external_ref status ${AMOUNTS} shipping_minor customer_id quote_id customer_reference placed_at required_by
      dispatched_at delivery_address metadata ${TIMES} lines`,
    nested: { delivery_address: ADDRESS, lines: `${LINE} sku` },
  },
  {
    list: 'requests',
    one: 'request',
    members: `id subject status customer_id external_ref contact message_count last_message_at metadata attachments ${TIMES}`,
    nested: { contact: 'name email phone', attachments: ATTACHMENT },
  },
];

/** Every resource: those of the contract, and any others from the SDL. */
export const RESOURCES: readonly Resource[] = [
  ...OF_CONTRACT,
  ...[...published.stored.values()].flatMap((stored) => ofSdl(stored)),
];

function ofSdl({ collection, members, type }: StoredType): Resource[] {
  const fields = published.roots.map(({ field }) => field);
  const list = fields.find(({ name }) => name.value === collection);
  const one = fields.find((field) => namedType(field.type) === type && field.arguments?.[0]?.name.value === 'id');
  if (!list || !one || OF_CONTRACT.some((resource) => resource.list === collection)) return [];
  const order = (['number', 'name'] as const).find((member) => sortsBy(list, member));
  const namesOf = (all: readonly StoredMember[]): string => all.map(({ name }) => name).join(' ');
  const nested = members
    .filter((member) => member.kind === 'object')
    .map(({ name, members: inner }) => [name, namesOf(inner)]);
  return [
    {
      list: collection as ListName,
      one: one.name.value,
      ...(order && { order }),
      members: namesOf(members),
      nested: Object.fromEntries(nested) as Record<string, string>,
    },
  ];
}

function sortsBy(list: FieldDefinitionNode, member: string): boolean {
  const sort = list.arguments?.find(({ name }) => name.value === 'sort');
  return directiveOf(sort, 'constraint')?.one_of?.includes(member) === true;
}

export function sortsOf({ list, order }: Resource): string[] {
  return ['created_at', 'updated_at', ...(order ? [order] : []), ...(list === 'orders' ? ['placed_at'] : [])].flatMap(
    (member) => [member, `-${member}`],
  );
}

/** The members listed in a text of {@link RESOURCES}, sorted. */
export function names(text: string): string[] {
  return text.split(/\s+/).sort();
}

export function selection({ members, nested }: Resource): string {
  return names(members)
    .map((member) => {
      const inner = member === 'metadata' ? 'key value' : nested[member];
      return inner === undefined ? member : `${member} { ${inner} }`;
    })
    .join(' ');
}

/** A record as returned by the API, with a thread's messages counted instead of listed. */
export function toRow(record: ImportRecord): Json {
  if ('contacts' in record) return { erased_at: null, metadata: {}, ...record };
  const files = 'sku' in record ? { attachments: [] } : {};
  if (!('messages' in record))
    return { ...(addedMembers(record) ?? { external_ref: null, metadata: {} }), ...files, ...record };
  const { messages, ...row } = record as Json;
  const last = messages
    .map((message: Json) => message.created_at)
    .sort()
    .at(-1);
  return {
    external_ref: null,
    metadata: {},
    attachments: [],
    ...row,
    message_count: messages.length,
    last_message_at: last,
  };
}

export function toItem(row: Json): Json {
  const { lines: _lines, ...item } = row;
  return item;
}

/** The expected rows of a list, in order: by the sort member, then by id, both in the direction of the sort. */
export function expectedRows(
  records: readonly ImportRecord[],
  { sort = '-created_at', keeps = () => true }: { sort?: string; keeps?: Filter['keeps'] } = {},
): Json[] {
  const member = sort.replace('-', '');
  const rows = records
    .map(toRow)
    .filter(keeps)
    .sort((a, b) => compare(a[member], b[member]) || compare(a.id, b.id));
  return sort.startsWith('-') ? rows.reverse() : rows;
}

function compare(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

export type Records = Record<ListName, ImportRecord[]>;

export function northwindRecords(): Records {
  return Object.fromEntries(RESOURCES.map(({ list }) => [list, northwind(list)])) as Records;
}

const ORDER_STATUS = ['placed', 'confirmed', 'in_production', 'dispatched', 'delivered', 'completed', 'cancelled'];
const REQUEST_STATUS = ['open', 'answered', 'closed'];
const DAY = 24 * 60 * 60 * 1000;

/** Northwind with more variety: every status, different and equal times, equal names, missing customers. */
export function variedNorthwind(): Records {
  const all = northwindRecords();
  const { products, customers, quotes, orders, requests, ...others } = Object.fromEntries(
    Object.entries(all).map(([list, records]) => [list, records.map(withMetadata)]),
  ) as Records;
  return {
    ...others,
    products: products.map((record, at) => ({ ...record, ...times(at), ...(at % 7 === 0 && { name: 'Chai' }) })),
    customers: customers.map((record, at) => ({ ...record, ...times(at), ...(at % 7 === 0 && { name: 'Ernst' }) })),
    quotes: withProjects(quotes),
    orders: orders.map((record, at) => ({
      ...record,
      status: ORDER_STATUS[at % 7],
      ...(at % 10 === 0 && { customer_id: null }),
    })),
    requests: requests.map((record, at) => ({
      ...record,
      status: REQUEST_STATUS[at % 3],
      ...(at % 10 === 0 && { customer_id: null, contact: null }),
      updated_at: times(at).updated_at,
    })),
  };
}

/** Fewer quotes and orders, to save time: still several pages, and every status. */
export function fewer({ quotes, orders, ...others }: Records): Records {
  return {
    ...others,
    quotes: quotes.filter((row, at) => row.status !== 'accepted' || at % 20 === 0),
    orders: orders.filter((_row, at) => at % 10 === 0 || at < 60),
  };
}

/** Two of three records have metadata. */
function withMetadata(record: ImportRecord, at: number): ImportRecord {
  if (at % 3 === 0) return record;
  return { ...record, metadata: { 'erp.id': String(at), tier: at % 3 === 1 ? 'gold' : 'a:b', ['__proto__']: 'x' } };
}

/** Times of a row by its index; several rows share each. */
function times(at: number): { created_at: string; updated_at: string } {
  const created = Date.UTC(1998, 0, 1) + (at % 13) * DAY;
  return {
    created_at: new Date(created).toISOString(),
    updated_at: new Date(created + ((at * 5) % 17) * DAY).toISOString(),
  };
}
