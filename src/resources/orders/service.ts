import type { OrganisationData } from '../../database/organisationData';
import type { ListArguments, Page } from '../../pagination';
import { searchWords } from '../../search';
import { listPage, type ListSpec, readOne, WITHOUT_LINES, WITHOUT_SEARCH, type WithLines } from '../collection';
import { listOfParent, type Parent } from '../parentList';
import { type Order, orders } from './model';

const LIST: ListSpec<Order> = {
  collection: orders,
  operation: 'orders',
  filters: ['q', 'status', 'customer_id', 'placed_since', 'updated_since'],
};

export function listOrders(data: OrganisationData, args: ListArguments, { lines }: WithLines): Promise<Page<Order>> {
  return listPage(data, LIST, { ...args }, lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** The orders of a parent (a customer), as `orders(customer_id:)` would list them. */
export function listOrdersOf(
  data: OrganisationData,
  parent: Parent,
  id: string,
  args: ListArguments,
  { lines }: WithLines,
): Promise<Page<Order>> {
  return listOfParent(data, LIST, parent, id, args, lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** @throws AppError not_found */
export function getOrder(data: OrganisationData, id: string, { lines }: WithLines): Promise<Order> {
  return readOne(data, orders, id, 'order', lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** The words an order is found by. */
export function orderWords(order: Pick<Order, 'number' | 'customer_reference'>): string[] {
  return searchWords(order.number, order.customer_reference);
}
