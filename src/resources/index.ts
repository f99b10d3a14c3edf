import { mergeResolvers, type Resolvers } from '../operations/run';
import { published } from '../schema/model';
import { deriveResolvers } from '../stored/derived';
import type { RecordKind } from '../stored/records';
import type { Resource } from '../stored/resource';
import { customers } from './customers/customers';
import { customerResolvers } from './customers/upsert';
import { eventResolvers } from './events';
import { meResolvers } from './me';
import { orders } from './orders/orders';
import { orderResolvers } from './orders/productSales';
import { products } from './products/products';
import { productResolvers } from './products/upsert';
import { quotes } from './quotes';
import { requestRecords } from './requests/records';
import { messages, requests } from './requests/requests';
import { requestResolvers } from './requests/service';

/** All resources, in import order. Add new resources here. */
const RESOURCES: readonly Resource[] = [products, customers, quotes, orders, requests, messages];

/** Resolvers that cannot be derived from the SDL: writes, and reads of several collections. */
const RESOLVERS: readonly object[] = [
  productResolvers,
  customerResolvers,
  orderResolvers,
  requestResolvers,
  meResolvers,
  eventResolvers,
];

/** The collections of every organisation's database. */
export const collections: readonly Resource[] = RESOURCES;

export const recordKinds: readonly RecordKind[] = [
  ...RESOURCES.flatMap(({ records }) => records ?? []),
  requestRecords,
];

/** All resolvers by type and field. */
export const resolvers: Resolvers = mergeResolvers(
  deriveResolvers(published, RESOURCES),
  ...RESOURCES.flatMap(({ resolvers: own }) => (own ? [own] : [])),
  ...RESOLVERS,
);
