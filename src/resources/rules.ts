import type { Fault } from '../errors';
import { amountFaults } from '../stored/lines';
import type { ImportRecord, RecordRules } from '../stored/records';

/** Rules across members, by type (contract, section 3). */
export const RULES: Readonly<Record<string, RecordRules>> = {
  Quote: { rules: (quote) => [...amountFaults(quote), ...decisionFaults(quote)], decimals: ['discount_pct'] },
  Order: { rules: amountFaults, decimals: ['discount_pct'] },
};

/** Faults of a quote without the times that its status requires, or with one that it excludes. */
function decisionFaults({ status, decided_at: decidedAt, sent_at: sentAt }: ImportRecord): Fault[] {
  const isDecided = status === 'accepted' || status === 'declined';
  const isSent = status !== 'draft' && status !== 'withdrawn';
  const faults: Fault[] = [];
  if (isDecided !== (decidedAt !== null)) {
    faults.push({
      pointer: '/decided_at',
      code: 'status',
      detail: 'must be set if and only if status is accepted or declined',
    });
  }
  if (isSent && sentAt === null) {
    faults.push({
      pointer: '/sent_at',
      code: 'status',
      detail: 'must be set for every status except draft and withdrawn',
    });
  }
  return faults;
}
