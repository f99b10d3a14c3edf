import type { OrganisationData } from '../../database/organisationData';
import { totals, type TotalsArguments, type TotalsSpec } from '../common/totals';
import { orders } from './model';

const SPEC: TotalsSpec = {
  collection: orders,
  at: 'placed_at',
  amounts: ['subtotal_minor', 'discount_minor', 'vat_minor', 'shipping_minor', 'total_minor'],
};

/** @throws AppError invalid_request */
export function orderTotals(data: OrganisationData, args: TotalsArguments): ReturnType<typeof totals> {
  return totals(data, SPEC, args);
}
