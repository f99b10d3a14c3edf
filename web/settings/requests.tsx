import { type JSX, render } from 'preact';
import { type Answer, call, callOf, now, settings } from './api';
import { open } from './dialog';
import { KeyChoice, KeyLink, readChoice, readNames } from './keyNames';
import { List, Reading } from './list';
import { say } from './page';
import { Ago, Button, Cell, Filter, Head, type Options, Table } from './parts';
import { APIS, CountsByKey, Details, type Request, Status } from './requestDetails';
import { choose, chosen, isShown, type PageOf, placeOf } from './route';
import { exact, length } from './time';

/* The request log of the organisation or of one key. The filters are in the address while the list is shown. */

/** How long to wait for more to be typed, in milliseconds. */
const TYPING = 250;
const first = callOf('requests');
const STATUSES = ['2xx', '4xx', '5xx', '200', '201', '304', '400', '401', '403', '404', '405', '406', '409', '412'];
const MORE_STATUSES = ['413', '415', '422', '429', '499', '500', '503'];
const FILTERS = ['result', 'status', 'api', 'since', 'key', 'operation', 'code', 'request_id'] as const;
/** Text filters, applied after a pause in typing. */
const TYPED: readonly string[] = ['operation', 'code', 'request_id'];
type Filters = Record<(typeof FILTERS)[number], string>;
const NO_FILTERS = Object.fromEntries(FILTERS.map((name) => [name, ''])) as Filters;

export function requestsPage(): PageOf {
  const place = placeOf('requests');
  const requests = new Requests(draw, false);
  function draw(): void {
    render(requests.view(), place);
  }
  draw();
  return { open: () => requests.open(), refresh: requests.list.load };
}

export class Requests {
  readonly list: List<Answer<'requests'>>;
  /** Requests by key, if filtered by an error code. */
  readonly #counts: Reading<Answer<'requestCounts'>>;
  /** Start of the period that was read, in ISO 8601. */
  #since: string | null = null;
  #keyId: string | undefined;
  #filters = NO_FILTERS;
  #typing: number | undefined;

  constructor(
    readonly draw: () => void,
    readonly isOfKey: boolean,
  ) {
    this.list = new List((cursor) => this.#read(cursor), draw);
    this.#counts = new Reading(() => call('requestCounts', { code: this.#code, since: this.#since }), draw);
  }

  /** Shows the requests that the address asks for. */
  async open(keyId?: string): Promise<void> {
    clearTimeout(this.#typing);
    this.#keyId = keyId;
    this.#filters = Object.fromEntries(FILTERS.map((name) => [name, chosen(name) ?? ''])) as Filters;
    const details = chosen('details');
    choose({ details: null });
    await Promise.all([
      this.#load(),
      this.isOfKey ? undefined : readChoice(first, this.#filters.key || null, this.draw),
    ]);
    const request = this.list.rows.find(({ id }) => id === details);
    if (request) this.#details(request);
  }

  close(): void {
    clearTimeout(this.#typing);
    this.list.clear();
    this.#counts.clear();
  }

  get #code(): string {
    return this.#filters.code.trim();
  }

  async #load(): Promise<void> {
    this.list.clear();
    this.#counts.clear();
    const reading = this.list.load();
    const { key } = this.#filters;
    await Promise.all([reading, this.isOfKey || this.#code === '' || key !== '' ? undefined : this.#counts.load()]);
  }

  async #read(cursor: string | null): Promise<Answer<'requests'>> {
    const { result, status, api, operation, request_id, since, key } = this.#filters;
    // a cursor is only valid with the same start
    if (cursor === null) this.#since = since in HOURS ? new Date(now() - Number(since) * HOUR).toISOString() : null;
    const page = await first('requests', {
      key_id: this.#keyId ?? (key || null),
      code: this.#code || null,
      since: this.#since,
      failed: result === '' ? null : result === 'failed',
      status: status || null,
      face: api === '' ? null : (api as Request['face']),
      operation: operation.trim() || null,
      request_id: request_id.trim() || null,
      cursor,
    });
    void readNames(page.data.map(({ key_id: key }) => key)).then(this.draw);
    return page;
  }

  #change(name: keyof Filters, value: string): void {
    this.#filters = { ...this.#filters, [name]: value };
    clearTimeout(this.#typing);
    const apply = (): void => {
      // by now another page is shown
      if (!isShown(this.isOfKey ? 'key' : 'requests')) return;
      choose(Object.fromEntries(FILTERS.map((name) => [name, this.#filters[name].trim() || null])));
      void this.#load();
    };
    if (TYPED.includes(name)) this.#typing = setTimeout(apply, TYPING);
    else apply();
  }

  #details(request: Request): void {
    open({ isAside: true, Content: () => <Details of={request} />, closed: () => choose({ details: null }) });
    choose({ details: request.id });
  }

  #none(): string {
    const { request_id: id } = this.#filters;
    if (id.trim() !== '' && settings.storesRequests)
      return 'No request with this id. It may be too old, one of many alike that are only counted, or one without a valid key.';
    if (FILTERS.some((name) => this.#filters[name].trim() !== '')) return 'No matching requests.';
    if (!settings.storesRequests) return 'No stored requests.';
    return this.isOfKey ? 'No requests with this key in the last 7 days.' : 'No requests in the last 7 days.';
  }

  view(): JSX.Element {
    const Heading = this.isOfKey ? 'h2' : 'h1';
    const title = this.isOfKey ? 'key-requests-title' : 'requests-title';
    const field = (name: keyof Filters) => ({
      value: this.#filters[name],
      onInput: ({ currentTarget }: { currentTarget: { value: string } }) => this.#change(name, currentTarget.value),
    });
    const choice = (label: string, name: keyof Filters, options: Options) => (
      <Filter label={label} of={this.#filters[name]} options={options} change={(to) => this.#change(name, to)} />
    );
    const text = { type: 'search', autoComplete: 'off', autocapitalize: 'none', spellcheck: false } as const;
    const refresh = async (): Promise<void> => {
      await this.list.load();
      if (!this.list.failure) say('Refreshed.');
    };
    return (
      <>
        <div class="heading">
          <Heading id={title} tabIndex={-1}>
            Requests
          </Heading>
          <Button does={refresh} isBusy={this.list.isBusy}>
            Refresh
          </Button>
        </div>
        {!settings.storesRequests && (
          <p class="info">
            This gateway stores no requests: its operator has set <code>REQUEST_LOG=off</code>. What is listed was
            stored by another gateway, or before.
          </p>
        )}
        <div class="filters" role="group" aria-label="Filter requests">
          {choice('Result', 'result', RESULTS)}
          {choice('Status', 'status', [
            ANY,
            ...[...STATUSES, ...MORE_STATUSES].map((value) => [value, value] as const),
          ])}
          {choice('API', 'api', [ANY, ...Object.entries(APIS)])}
          {choice('Period', 'since', [['', '7 days'], ...Object.entries(HOURS)])}
          {!this.isOfKey && <KeyChoice of={this.#filters.key || null} change={(to) => this.#change('key', to ?? '')} />}
          <label class="filter">
            Operation
            <input {...text} {...field('operation')} list="operations" placeholder="any" maxLength={200} />
          </label>
          <label class="filter">
            Error code
            <input {...text} {...field('code')} placeholder="any" maxLength={40} />
          </label>
          <label class="filter">
            Request id
            <input {...text} {...field('request_id')} placeholder="X-Request-Id" maxLength={128} />
          </label>
        </div>
        {this.#counts.value && this.#counts.value.data.length > 0 && (
          <CountsByKey of={this.#counts.value} code={this.#code} />
        )}
        <Table
          of={this.list}
          class="requests"
          name={title}
          columns={['When', 'Request', ...(this.isOfKey ? [] : ['Key']), 'API', 'Status', 'Took', 'From']}
          none={this.#none()}
          more="Show older requests"
        >
          {this.list.rows.map((request) => (
            <Row key={request.id} of={request} isOfKey={this.isOfKey} details={() => this.#details(request)} />
          ))}
        </Table>
        <p class="hint">{settings.storesRequests ? STORED : UNSTORED}</p>
      </>
    );
  }
}

const HOUR = 3_600_000;
const HOURS: Readonly<Record<string, string>> = { '24': '24 hours', '1': '1 hour' };
const ANY = ['', 'any'] as const;
const RESULTS = [
  ['', 'all'],
  ['failed', 'failed'],
  ['successful', 'successful'],
] as const;
const STORED =
  'Requests are kept for 7 days: of each organisation at most 10,000 failed and 10,000 successful ones. Failed requests that are alike and come within seconds share a row: “+3” means three more like it. If a key fails too often at once, some are left out. Of the successful ones the first hundred are listed, then one a minute. Query, headers, body and key are not stored. A new request appears within seconds; requests with an invalid key never do.';
const UNSTORED = 'Stored requests are kept for 7 days, without query, headers, body and key.';

interface RowProps {
  readonly of: Request;
  readonly isOfKey: boolean;
  readonly details: () => void;
}

function Row({ of: request, isOfKey, details }: RowProps): JSX.Element {
  const { at, key_id: key, face, ms, address } = request;
  const what = request.operation ?? request.path;
  return (
    <tr>
      <Cell label="When" class="half">
        <Ago at={at} />
      </Cell>
      <Head label="Request">
        <Button class="link" label={`Details of ${what} at ${exact(at)}`} does={details}>
          {what}
        </Button>
      </Head>
      {!isOfKey && (
        <Cell label="Key">
          <KeyLink id={key} hasLastFour />
        </Cell>
      )}
      <Cell label="API" class="half">
        {APIS[face]}
      </Cell>
      <Cell label="Status">
        <Status of={request} />
      </Cell>
      <Cell label="Took" class="half">
        {length(ms)}
      </Cell>
      <Cell label="From" class="half">
        {address}
      </Cell>
    </tr>
  );
}
