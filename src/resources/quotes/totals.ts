import type { OrganisationData } from '../../database/organisationData';
import { totals, type TotalsArguments, type TotalsSpec } from '../common/totals';
import { quotes } from './model';

const SPEC: TotalsSpec = {
  collection: quotes,
  at: 'created_at',
  amounts: ['subtotal_minor', 'discount_minor', 'vat_minor', 'total_minor'],
};

/** @throws AppError invalid_request */
export function quoteTotals(data: OrganisationData, args: TotalsArguments): ReturnType<typeof totals> {
  return totals(data, SPEC, args);
}
