import { documentKind } from '../common/documentKind';
import { type Customer, customers } from './model';
import { customerWords } from './service';

export const customerRecords = documentKind<Customer>({
  file: 'customers',
  type: 'Customer',
  collection: customers,
  uniqueBy: 'external_ref',
  times: ['created_at', 'updated_at'],
  search: customerWords,
});
