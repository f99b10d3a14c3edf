import './requests.css';
import { type JSX, render } from 'preact';
import { requestName } from '../../src/organisations/requestName';
import { searchable } from '../keyText';
import { type Answer, call, callOf, find, settings } from './api';
import { BesideLink, openBeside } from './beside';
import { redraw } from './dialog';
import { Histogram } from './histogram';
import { createNewestKeys, KeyLink, readNames } from './keyNames';
import { List, Reading } from './list';
import { say } from './page';
import { Ago, Button, Heading, Icon, Problem } from './parts';
import { CountsByKey, Details, Outcome, type Request, Status } from './requestDetails';
import {
  APIS,
  argumentsOf,
  FilterBar,
  type Filters,
  filtersInAddress,
  isFiltered,
  parametersOf,
} from './requestFilters';
import { choose, isShown, notFound, type PageOf, placeOf, readdress, shownId } from './route';
import { Cell, Head, Table } from './table';
import { length } from './time';

/* The request log of the organisation or of one key. The filters are in the address while the list is shown, and so is an open request. */

/** How long to wait for more to be typed, in milliseconds. */
const TYPING = 250;
const LIST = '/settings/requests';
const first = callOf('requests');

export function requestsPage(): PageOf {
  const place = placeOf('requests');
  const requests = new Requests(draw, false);
  function draw(): void {
    render(requests.view(), place);
  }
  draw();
  return { open: (row) => requests.open(row), refresh: requests.refresh };
}

export class Requests {
  readonly list: List<Answer<'requests'>>;
  readonly #histogram: Reading<Answer<'requestHistogram'>>;
  /** Requests by key, if filtered by an error code. */
  readonly #counts: Reading<Answer<'requestCounts'>>;
  readonly #newestKeys: Reading<Answer<'newestKeys'>>;
  #filters = filtersInAddress();
  /** The filters of what was read, as arguments: a cursor is only valid with the same start of the period. */
  #read = argumentsOf(this.#filters);
  #typing: number | undefined;

  constructor(
    readonly draw: () => void,
    /** Whether it is that of the shown key. */
    readonly isOfKey: boolean,
  ) {
    this.list = new List((cursor) => this.#readPage(cursor), draw);
    this.#histogram = new Reading(() => first('requestHistogram', this.#read), draw);
    this.#counts = new Reading(() => {
      const { since, until } = this.#read;
      return call('requestCounts', { code: this.#code, since, until });
    }, draw);
    this.#newestKeys = createNewestKeys(first, draw, () => this.#filters.key);
  }

  /** Shows the requests that the address asks for, and one of them beside the list if it names one. */
  async open(row = ''): Promise<void> {
    clearTimeout(this.#typing);
    if (row !== '') readdress(LIST + location.search);
    this.#filters = filtersInAddress();
    choose(parametersOf(this.#filters));
    if (row !== '') this.#show(row);
    await Promise.all([this.#load(), this.isOfKey ? undefined : this.#newestKeys.load()]);
  }

  close(): void {
    clearTimeout(this.#typing);
    for (const reading of [this.list, this.#histogram, this.#counts]) reading.clear();
  }

  readonly refresh = async (): Promise<boolean> => {
    this.#read = this.#arguments();
    const all = [this.list, ...(this.isOfKey ? [] : [this.#histogram]), ...(this.#hasCounts ? [this.#counts] : [])];
    return (await Promise.all(all.map((reading) => reading.load()))).every(Boolean);
  };

  /** The error code that is searched; empty if it is something else. */
  get #code(): string {
    const text = this.#filters.search.trim();
    return Object.hasOwn(settings.statuses, text) ? text : '';
  }

  get #hasCounts(): boolean {
    return !this.isOfKey && this.#code !== '' && this.#filters.key === '';
  }

  #arguments(): ReturnType<typeof argumentsOf> {
    return { ...argumentsOf(this.#filters), ...(this.isOfKey && { key_id: shownId() }) };
  }

  async #load(): Promise<void> {
    this.close();
    await this.refresh();
  }

  async #readPage(cursor: string | null): Promise<Answer<'requests'>> {
    const page = await first('requests', { ...this.#read, cursor });
    void readNames(page.data.map(({ key_id: key }) => key)).then(this.draw);
    return page;
  }

  #change(changes: Partial<Filters>): void {
    const { search } = changes;
    this.#filters = { ...this.#filters, ...changes, ...(search !== undefined && { search: searchable(search) }) };
    clearTimeout(this.#typing);
    const apply = (): void => {
      // by now another page is shown
      if (!isShown(this.isOfKey ? 'key' : 'requests')) return;
      choose(parametersOf(this.#filters));
      void this.#load();
    };
    if ('search' in changes) this.#typing = setTimeout(apply, TYPING);
    else apply();
  }

  readonly #clear = (): void => {
    this.#filters = Object.fromEntries(Object.keys(this.#filters).map((name) => [name, ''])) as Filters;
    choose(parametersOf(this.#filters));
    void this.#load();
    // the button that was pressed is gone
    document.querySelector<HTMLElement>('[data-page]:not([hidden]) .request-search input')?.focus();
  };

  /** Opens a request beside the list. It has an address of its own, which can be shared. */
  #show(id: string, request?: Request): void {
    openBeside<Request>({
      id,
      address: `${LIST}/${id}${this.isOfKey ? '' : location.search}`,
      read: () => readRequest(id),
      value: request,
      titleOf: (value) => (value ? <code>{requestName(value)}</code> : 'Request'),
      view: (value) => <Details of={value} />,
    });
  }

  /** Why no requests are listed, and what to do. */
  #none(): JSX.Element {
    if (isFiltered(this.#filters))
      return (
        <>
          <p>No stored request matches. {SAMPLE}</p>
          <Button does={this.#clear}>Clear filters</Button>
        </>
      );
    return (
      <>
        <p>
          {settings.storesRequests
            ? `No requests ${this.isOfKey ? 'with this key ' : ''}in the last 7 days. A new one appears within seconds.`
            : 'No stored requests.'}
        </p>
        {!this.isOfKey && (
          <a class="button" href="/api/v1/docs">
            Open the reference
          </a>
        )}
      </>
    );
  }

  view(): JSX.Element {
    const title = this.isOfKey ? 'key-requests-title' : 'requests-title';
    const refresh = async (): Promise<void> => {
      if (await this.refresh()) say('Refreshed.');
    };
    const isEmpty = this.list.value !== undefined && this.list.rows.length === 0;
    const lost = [this.#histogram, this.#counts].find(({ failure }) => failure);
    return (
      <>
        <Heading as={this.isOfKey ? 'h2' : 'h1'} id={title} title="Requests">
          <Button does={refresh} isBusy={this.list.isBusy}>
            <Icon name="refresh-cw" /> Refresh
          </Button>
        </Heading>
        {!settings.storesRequests && (
          <p class="info">
            This gateway stores no requests: its operator has set <code>REQUEST_LOG=off</code>. What is listed was
            stored by another gateway, or before.
          </p>
        )}
        <FilterBar
          id={this.isOfKey ? 'key-requests' : 'requests'}
          of={this.#filters}
          keys={this.isOfKey ? undefined : this.#newestKeys}
          change={(changes) => this.#change(changes)}
          clear={isEmpty ? undefined : this.#clear}
        />
        {/* the table says why the list could not be read, which is most often why these could not */}
        <Problem failure={this.list.failure ? undefined : lost?.failure} again={() => lost?.again()} />
        {!this.isOfKey && !isEmpty && !this.#histogram.failure && (
          <Histogram of={this.#histogram.value} narrow={(since, until) => this.#change({ since, until })} />
        )}
        {this.#counts.value && this.#counts.value.data.length > 0 && (
          <CountsByKey of={this.#counts.value} code={this.#code} />
        )}
        <Table
          of={this.list}
          class="request-list"
          name={title}
          columns={['Status', 'Request', ...(this.isOfKey ? [] : ['Key']), 'Duration', 'Time']}
          none={this.#none()}
          more="Show older requests"
        >
          {this.list.rows.map((request) => (
            <Row key={request.id} of={request} isOfKey={this.isOfKey} show={() => this.#show(request.id, request)} />
          ))}
        </Table>
        <p class="hint">
          {this.#filters.result === 'failed' && `${FAILED} `}
          {SAMPLE}
        </p>
        <details class="kept">
          <summary>Which requests are kept?</summary>
          <p>{KEPT}</p>
        </details>
      </>
    );
  }
}

/** @throws Failure */
async function readRequest(id: string): Promise<Request> {
  const request = await find('request', { id });
  if (!request) throw notFound('This request is no longer stored, or never was.', 'requests', 'All requests', LIST);
  void readNames([request.key_id]).then(redraw);
  return request;
}

/** Why there are fewer than in the overview. */
const SAMPLE =
  'Of the successful requests of a key, the first 10 of each minute are stored, and one in a hundred of the others.';
/** Why there are more of them than errors in the overview. */
const FAILED =
  'Failed are also requests that were rate limited, and those answered with 200 of which some elements failed; the overview does not count either among its errors.';
const KEPT =
  'For 7 days, without query, headers, body and key. Of the failed requests of a key, the first 100 of each minute are stored, and one in a hundred of the others; of the organisation, the newest 10,000 failed and 10,000 successful ones. Requests without a valid key are never kept, and neither is what these pages ask by themselves.';

interface RowProps {
  readonly of: Request;
  readonly isOfKey: boolean;
  readonly show: () => void;
}

function Row({ of: request, isOfKey, show }: RowProps): JSX.Element {
  const { id, at, key_id: key, face, ms, method, path } = request;
  return (
    <tr>
      <Cell label="Status">
        <Status of={request} />
      </Cell>
      <Head label="Request">
        <BesideLink href={`${LIST}/${id}`} title={`${method} ${path}`} show={show}>
          {requestName(request)}
        </BesideLink>
        {face !== 'rest' && <span class="quiet">{APIS[face]}</span>}
        <Outcome of={request} />
      </Head>
      {!isOfKey && (
        <Cell label="Key">
          <KeyLink id={key} hasLastFour />
        </Cell>
      )}
      <Cell label="Duration">{length(ms)}</Cell>
      <Cell label="Time">
        <Ago at={at} />
      </Cell>
    </tr>
  );
}
