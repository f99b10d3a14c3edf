import { documentKind } from '../common/documentKind';
import { type Quote, quotes } from './model';
import { quoteFaults, quoteWords } from './service';

export const quoteRecords = documentKind<Quote>({
  file: 'quotes',
  type: 'Quote',
  collection: quotes,
  uniqueBy: 'number',
  times: ['sent_at', 'decided_at', 'created_at', 'updated_at'],
  search: quoteWords,
  rules: quoteFaults,
  decimals: ['discount_pct'],
});
