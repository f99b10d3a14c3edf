import type { OrganisationData } from '../../database/organisationData';
import type { Fault } from '../../errors';
import type { ListArguments, Page } from '../../database/pagination';
import { searchWords } from '../common/search';
import { listPage, readOne, WITHOUT_LINES, WITHOUT_SEARCH, type WithLines } from '../common/collection';
import { amountFaults } from '../common/lines';
import { listOfParent, type Parent } from '../common/parentList';
import type { ImportRecord } from '../common/records';
import { type Quote, quotes } from './model';

export function listQuotes(data: OrganisationData, args: ListArguments, { lines }: WithLines): Promise<Page<Quote>> {
  return listPage(data, quotes, { ...args }, lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** The quotes of a parent (a customer), as `quotes(customer_id:)` would list them. */
export function listQuotesOf(
  data: OrganisationData,
  parent: Parent,
  id: string,
  args: ListArguments,
  { lines }: WithLines,
): Promise<Page<Quote>> {
  return listOfParent(data, quotes, parent, id, args, lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** @throws AppError not_found */
export function getQuote(data: OrganisationData, id: string, { lines }: WithLines): Promise<Quote> {
  return readOne(data, quotes, id, 'quote', lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** The quote another object names; null when it names none, or one that is gone. */
export async function quoteOf(data: OrganisationData, id: string | null, { lines }: WithLines): Promise<Quote | null> {
  return id === null ? null : data.related(quotes, id, lines ? WITHOUT_SEARCH : WITHOUT_LINES);
}

/** The words a quote is found by. */
export function quoteWords(quote: Pick<Quote, 'number'>): string[] {
  return searchWords(quote.number);
}

/** Rules across a quote's members (contract, section 3). */
export function quoteFaults(record: ImportRecord): Fault[] {
  const status = String(record.status);
  const isDecided = status === 'accepted' || status === 'declined';
  const isSent = status !== 'draft' && status !== 'withdrawn';
  const faults = amountFaults(record);
  if (isDecided !== (record.decided_at !== null)) {
    faults.push({
      pointer: '/decided_at',
      code: 'status',
      detail: 'must be set exactly when status is accepted or declined',
    });
  }
  if (isSent && record.sent_at === null) {
    faults.push({
      pointer: '/sent_at',
      code: 'status',
      detail: 'must be set for every status but draft and withdrawn',
    });
  }
  return faults;
}
