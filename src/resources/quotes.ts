import type { Fault } from '../errors';
import { amountFaults } from '../stored/lines';
import type { ImportRecord } from '../stored/records';
import { defineResource } from '../stored/resource';

export const quotes = defineResource({
  type: 'Quote',
  indexes: [
    { on: { number: 1 }, options: { unique: true } },
    { on: { updated_at: -1, _id: -1 } },
    // MongoDB would take newest_and_totals for this, but the embedded SecantusDB sorts by a complete index only
    { on: { created_at: -1, _id: -1 } },
    { on: { status: 1, created_at: -1, _id: -1 } },
    { on: { customer_id: 1, created_at: -1, _id: -1 } },
    { on: { search: 1 } },
    // newest first, and covers quote_totals, so that it reads no documents
    {
      on: {
        ...{ created_at: -1, _id: -1, currency: 1, status: 1, customer_id: 1 },
        ...{ subtotal_minor: 1, discount_minor: 1, vat_minor: 1, total_minor: 1 },
      },
      options: { name: 'newest_and_totals' },
    },
  ],
  retired: ['number_1__id_1', 'totals'],
  rules: quoteFaults,
  decimals: ['discount_pct'],
});

/** Rules across a quote's members (contract, section 3). */
function quoteFaults(record: ImportRecord): Fault[] {
  const status = String(record.status);
  const isDecided = status === 'accepted' || status === 'declined';
  const isSent = status !== 'draft' && status !== 'withdrawn';
  const faults = amountFaults(record);
  if (isDecided !== (record.decided_at !== null)) {
    faults.push({
      pointer: '/decided_at',
      code: 'status',
      detail: 'must be set if and only if status is accepted or declined',
    });
  }
  if (isSent && record.sent_at === null) {
    faults.push({
      pointer: '/sent_at',
      code: 'status',
      detail: 'must be set for every status except draft and withdrawn',
    });
  }
  return faults;
}
