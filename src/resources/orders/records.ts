import { documentKind } from '../common/documentKind';
import { amountFaults } from '../common/lines';
import { type Order, orders } from './model';
import { orderWords } from './service';

export const orderRecords = documentKind<Order>({
  file: 'orders',
  type: 'Order',
  collection: orders,
  uniqueBy: 'number',
  times: ['placed_at', 'dispatched_at', 'created_at', 'updated_at'],
  search: orderWords,
  rules: amountFaults,
  decimals: ['discount_pct'],
});
