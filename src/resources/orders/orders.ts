import { amountFaults } from '../../stored/lines';
import { defineResource } from '../../stored/resource';

export const orders = defineResource({
  type: 'Order',
  indexes: [
    { on: { number: 1 }, options: { unique: true } },
    { on: { created_at: -1, _id: -1 } },
    { on: { updated_at: -1, _id: -1 } },
    { on: { placed_at: -1, _id: -1 } },
    // covers order_totals, so that it reads no documents
    {
      on: {
        ...{ placed_at: -1, currency: 1, status: 1, customer_id: 1 },
        ...{ subtotal_minor: 1, discount_minor: 1, vat_minor: 1, shipping_minor: 1, total_minor: 1 },
      },
      options: { name: 'totals' },
    },
    { on: { status: 1, created_at: -1, _id: -1 } },
    { on: { customer_id: 1, created_at: -1, _id: -1 } },
    { on: { search: 1 } },
  ],
  retired: ['number_1__id_1'],
  rules: amountFaults,
  decimals: ['discount_pct'],
});
