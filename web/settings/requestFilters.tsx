import type { JSX } from 'preact';
import { HOUR } from '../../src/units';
import { type Answer, now, settings } from './api';
import type { Calls } from './calls';
import { periodInWords } from './histogram';
import { KeyChoice } from './keyNames';
import type { Reading } from './list';
import { Button, Filter, Folded, Icon, type Options, Segments } from './parts';
import { chosen } from './route';

/* The filters of a list of requests. They are in the address. */

const NAMES = ['search', 'result', 'status', 'api', 'key', 'since', 'until'] as const;
export type Filters = Readonly<Record<(typeof NAMES)[number], string>>;
type Variables = NonNullable<Calls['requestHistogram']['variables']>;

const PERIODS: Options = [
  ['1', '1 hour'],
  ['24', '24 hours'],
  ['', '7 days'],
];
const RESULTS: Options = [
  ['', 'All'],
  ['failed', 'Failed'],
  ['successful', 'Successful'],
];
const ANY = ['', 'any'] as const;
export const APIS: Readonly<Record<NonNullable<Variables['face']>, string>> = {
  rest: 'REST',
  graphql: 'GraphQL',
  mcp: 'MCP',
};
const API_OPTIONS: Options = [ANY, ...Object.entries(APIS)];
/** The statuses of success, that of a caller who disconnected, and those of the error codes. */
const STATUSES = [...new Set([200, 201, 304, 499, ...Object.values(settings.statuses)])].sort(
  (one, other) => one - other,
);
const STATUS_OPTIONS: Options = [
  ANY,
  ...['2xx', '4xx', '5xx', ...STATUSES.map(String)].map((status) => [status, status] as const),
];

/** The parameters by which addresses of earlier versions, and counts of an error code, name what is searched. */
const SEARCHES = ['search', 'code', 'operation', 'request_id'];

/** The filters in the address. */
export function filtersInAddress(): Filters {
  const filters = Object.fromEntries(NAMES.map((name) => [name, chosen(name) ?? ''])) as Filters;
  return { ...filters, search: SEARCHES.map(chosen).find((text) => text !== null) ?? '' };
}

/** The parameters of the address that has these filters. */
export const parametersOf = (filters: Filters): Record<string, string | null> => ({
  ...Object.fromEntries(SEARCHES.map((name) => [name, null])),
  ...Object.fromEntries(NAMES.map((name) => [name, filters[name].trim() || null])),
});

/** The filters that are set, apart from the search: a period counts once. */
const setFilters = (filters: Filters): readonly string[] =>
  NAMES.filter((name) => name !== 'search' && name !== 'until' && filters[name] !== '');
export const isFiltered = (filters: Filters): boolean => NAMES.some((name) => filters[name].trim() !== '');

/** The filters as arguments of the log's operations, for a list whose first page is read now. */
export function argumentsOf({ search, result, status, api, key, since, until }: Filters): Variables {
  const isAge = PERIODS.some(([hours]) => hours === since);
  return {
    search: search.trim() || null,
    failed: result === '' ? null : result === 'failed',
    status: status || null,
    face: Object.hasOwn(APIS, api) ? (api as keyof typeof APIS) : null,
    key_id: key || null,
    since: (isAge && since !== '' ? new Date(now() - Number(since) * HOUR).toISOString() : since) || null,
    until: until || null,
  };
}

interface FilterBarProps {
  /** What the ids and names of its elements begin with: the pages of requests and of a key are in one document. */
  readonly id: string;
  readonly of: Filters;
  /** The keys to choose from; undefined if the requests are those of one key. */
  readonly keys: Reading<Answer<'newestKeys'>> | undefined;
  readonly change: (changes: Partial<Filters>) => void;
  /** Undefined where another button does it. */
  readonly clear: (() => void) | undefined;
}

export function FilterBar({ id, of: filters, keys, change, clear }: FilterBarProps): JSX.Element {
  const { search, result, status, api, key, since, until } = filters;
  const isRange = until !== '' || !PERIODS.some(([hours]) => hours === since);
  return (
    <div class="filters" role="group" aria-label="Filter requests">
      <div class="request-search">
        <Icon name="search" />
        <input
          type="search"
          aria-label="Search requests"
          placeholder="Path, operation, request id or error code"
          list="operations"
          autoComplete="off"
          autocapitalize="none"
          spellcheck={false}
          maxLength={2000}
          value={search}
          onInput={({ currentTarget }) => change({ search: currentTarget.value })}
        />
      </div>
      <Folded id={`${id}-choices`} count={setFilters(filters).length} class="request-choices">
        <Segments
          name={`${id}-result`}
          label="Result"
          options={RESULTS}
          of={result}
          change={(to) => change({ result: to })}
        />
        <Segments
          name={`${id}-period`}
          label="Period"
          options={PERIODS}
          of={isRange ? 'range' : since}
          change={(to) => change({ since: to, until: '' })}
        />
        <Filter label="Status" of={status} options={STATUS_OPTIONS} change={(to) => change({ status: to })} />
        <Filter label="API" of={api} options={API_OPTIONS} change={(to) => change({ api: to })} />
        {keys && <KeyChoice of={key} keys={keys} change={(to) => change({ key: to })} />}
      </Folded>
      {isRange && (
        <Button class="request-range" does={() => change({ since: '', until: '' })}>
          {rangeInWords(since, until)}
          <span class="unseen">: show all 7 days</span> <Icon name="x" />
        </Button>
      )}
      {clear && isFiltered(filters) && (
        <Button class="request-clear" does={clear}>
          Clear filters
        </Button>
      )}
    </div>
  );
}

function rangeInWords(since: string, until: string): string {
  const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text));
  if (isTime(since) && isTime(until)) return periodInWords(since, until);
  if (isTime(since)) return `since ${new Date(since).toLocaleString('en-GB')}`;
  return isTime(until) ? `until ${new Date(until).toLocaleString('en-GB')}` : 'a period';
}
