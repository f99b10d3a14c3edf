import type { OrganisationData } from '../../database/organisationData';
import type { ListArguments, Page } from '../../database/pagination';
import { searchWords } from '../common/search';
import { listPage, readOne, WITHOUT_LINES, WITHOUT_SEARCH, type WithLines } from '../common/collection';
import { listOfParent, type Parent } from '../common/parentList';
import { type Order, orders } from './model';

export function listOrders(data: OrganisationData, args: ListArguments, { lines }: WithLines): Promise<Page<Order>> {
  return listPage(data, orders, { ...args }, lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** The orders of a parent (a customer), as `orders(customer_id:)` would list them. */
export function listOrdersOf(
  data: OrganisationData,
  parent: Parent,
  id: string,
  args: ListArguments,
  { lines }: WithLines,
): Promise<Page<Order>> {
  return listOfParent(data, orders, parent, id, args, lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** @throws AppError not_found */
export function getOrder(data: OrganisationData, id: string, { lines }: WithLines): Promise<Order> {
  return readOne(data, orders, id, 'order', lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** The words an order is found by. */
export function orderWords(order: Pick<Order, 'number' | 'customer_reference'>): string[] {
  return searchWords(order.number, order.customer_reference);
}
