import type { Resolvers } from '../schema/guard';
import { loadDocument } from '../schema/sdl';
import { deriveResolvers } from './common/derived';
import type { RecordKind } from './common/records';
import type { Resource } from './common/resource';
import { customers } from './customers/customers';
import { customerResolvers } from './customers/resolvers';
import { meResolvers } from './me';
import { orders } from './orders/orders';
import { orderResolvers } from './orders/resolvers';
import { products } from './products/products';
import { productResolvers } from './products/resolvers';
import { quotes } from './quotes';
import { requestRecords } from './requests/records';
import { messages, requests } from './requests/requests';
import { requestResolvers } from './requests/resolvers';

/** The resources, in the order in which they are imported. A new one is added here. */
const RESOURCES: readonly Resource[] = [products, customers, quotes, orders, requests, messages];

/** What the SDL alone does not say: writes, and reads of more than one collection. */
const RESOLVERS: readonly object[] = [
  productResolvers,
  customerResolvers,
  orderResolvers,
  requestResolvers,
  meResolvers,
];

/** Collections that every organisation's database has. */
export const collections: readonly Resource[] = RESOURCES;

export const recordKinds: readonly RecordKind[] = [
  ...RESOURCES.flatMap(({ records }) => records ?? []),
  requestRecords,
];

/** All resolvers by type and field. */
export const resolvers: Resolvers = deriveResolvers(loadDocument(), RESOURCES);
for (const own of RESOLVERS) {
  for (const [type, fields] of Object.entries(own as Resolvers)) resolvers[type] = { ...resolvers[type], ...fields };
}
