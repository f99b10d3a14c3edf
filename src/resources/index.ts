import type { Collection } from '../database/collection';
import type { Resolvers } from '../schema/guard';
import type { CheckedList } from '../schema/filterGaps';
import { customers } from './customers/model';
import { customerRecords } from './customers/records';
import { customerResolvers } from './customers/resolvers';
import { meResolvers } from './me/resolvers';
import { orders } from './orders/model';
import { orderRecords } from './orders/records';
import { orderResolvers } from './orders/resolvers';
import { products } from './products/model';
import { productRecords } from './products/records';
import { productResolvers } from './products/resolvers';
import { quotes } from './quotes/model';
import { quoteRecords } from './quotes/records';
import { quoteResolvers } from './quotes/resolvers';
import type { RecordKind } from './common/records';
import { messages, requests } from './requests/model';
import { requestRecords } from './requests/records';
import { requestResolvers } from './requests/resolvers';

interface Resource {
  readonly resolvers: unknown;
  readonly collections?: readonly Collection<{ readonly _id: string }>[];
  /** How it is imported and exported. */
  readonly records?: RecordKind;
}

/** The resources, in the order they are imported. A new one is added here, and nowhere else outside its own folder and SDL file. */
const RESOURCES: readonly Resource[] = [
  { resolvers: productResolvers, collections: [products], records: productRecords },
  { resolvers: customerResolvers, collections: [customers], records: customerRecords },
  { resolvers: quoteResolvers, collections: [quotes], records: quoteRecords },
  { resolvers: orderResolvers, collections: [orders], records: orderRecords },
  { resolvers: requestResolvers, collections: [requests, messages], records: requestRecords },
  { resolvers: meResolvers },
];

/** Collections that every organisation's database has. */
export const collections: readonly Collection<{ readonly _id: string }>[] = RESOURCES.flatMap(
  (resource) => resource.collections ?? [],
);

/** Lists are named as their collections. */
export const lists: readonly CheckedList[] = collections.map(({ name, schema }) => ({
  operation: name,
  indexed: schema.indexes().map(([on]) => Object.keys(on)[0] ?? ''),
}));

export const recordKinds: readonly RecordKind[] = RESOURCES.flatMap((resource) => resource.records ?? []);

/** All resolvers by type and field. */
export const resolvers: Resolvers = {};
for (const resource of RESOURCES) {
  for (const [type, fields] of Object.entries(resource.resolvers as Resolvers)) {
    resolvers[type] = { ...resolvers[type], ...fields };
  }
}
