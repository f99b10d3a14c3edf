import { type ComponentChildren, type JSX, render } from 'preact';
import { type Answer, call, settings } from './api';
import { say } from './dom';
import { nameOf, readNames } from './keyPage/link';
import { List } from './list';
import { Ago, Cell, Copyable, Facts, Head, Table } from './parts';
import { choose, chosen } from './route';
import { exact } from './time';

/* The log of requests, of the organisation or of one key. What is chosen is in the address, as long as the list is shown. */

type Request = Answer<'requests'>['data'][number];
type Face = Request['face'];

/** How long to wait for more to be typed, in milliseconds. */
const TYPING = 250;
const APIS: Readonly<Record<Face, string>> = { rest: 'REST', graphql: 'GraphQL', mcp: 'MCP' };
/** The status of a request whose caller disconnected before the answer. */
const LEFT = 499;
const STATUSES = ['2xx', '4xx', '5xx', '200', '201', '304', '400', '401', '403', '404', '405', '406', '409', '412'];
const MORE_STATUSES = ['413', '415', '422', '429', '499', '500', '503'];
const FILTERS = ['result', 'status', 'api', 'operation', 'request_id'] as const;
type Filters = Record<(typeof FILTERS)[number], string>;
const NO_FILTERS: Filters = { result: '', status: '', api: '', operation: '', request_id: '' };

/** The requests in a section of the page: `open(keyId)` shows those of a key, or of the organisation; `close()` leaves them. */
export function requestsIn(place: HTMLElement) {
  const isOfKey = place.id === 'key-requests';
  const title = `${place.id}-title`;
  /** Ids of requests whose details are shown. */
  const opened = new Set<string>();
  let keyId: string | undefined;
  let filters = NO_FILTERS;
  let typing: number | undefined;
  const list = new List<Answer<'requests'>>(read, draw);

  async function read(cursor: string | null): Promise<Answer<'requests'>> {
    const { result, status, api, operation, request_id } = filters;
    const page = await call('requests', {
      key_id: keyId,
      failed: result === '' ? null : result === 'failed',
      status: status || null,
      face: api === '' ? null : (api as Face),
      operation: operation.trim() || null,
      request_id: request_id.trim() || null,
      cursor,
    });
    void readNames(page.data.map(({ key_id: key }) => key)).then(draw);
    return page;
  }

  function changed(name: keyof Filters, value: string): void {
    filters = { ...filters, [name]: value };
    clearTimeout(typing);
    const isText = name === 'operation' || name === 'request_id';
    const apply = (): void => {
      // another page is shown by now
      if (!place.checkVisibility()) return;
      choose(Object.fromEntries(FILTERS.map((one) => [one, filters[one].trim() || null])));
      list.clear();
      void list.load();
    };
    if (isText) typing = setTimeout(apply, TYPING);
    else apply();
  }

  function toggle(id: string): void {
    if (!opened.delete(id)) opened.add(id);
    choose({ details: [...opened].at(-1) ?? null });
    draw();
  }

  async function refresh(): Promise<void> {
    if (list.isBusy) return;
    await list.load();
    if (!list.failure) say('Refreshed.');
  }

  function nothing(): string {
    if (filters.request_id.trim() !== '' && settings.storesRequests)
      return 'No request with this id. It may be too old, one of many alike that are only counted, or one without a valid key.';
    if (FILTERS.some((name) => filters[name].trim() !== '')) return 'No matching requests.';
    if (!settings.storesRequests) return 'No stored requests.';
    return isOfKey ? 'No requests with this key in the last 7 days.' : 'No requests in the last 7 days.';
  }

  function draw(): void {
    const Heading = isOfKey ? 'h2' : 'h1';
    const field = (name: keyof Filters) => ({
      value: filters[name],
      onInput: ({ currentTarget }: { currentTarget: { value: string } }) => changed(name, currentTarget.value),
    });
    const choice = (label: string, name: keyof Filters, options: readonly (readonly [string, string])[]) => (
      <label class="filter">
        {label}
        <select {...field(name)}>
          {options.map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </label>
    );
    const text = { type: 'search', autoComplete: 'off', autocapitalize: 'none', spellcheck: false } as const;
    render(
      <>
        <div class="heading">
          <Heading id={title} tabIndex={-1}>
            Requests
          </Heading>
          <button class="button" type="button" aria-disabled={list.isBusy} onClick={() => void refresh()}>
            Refresh
          </button>
        </div>
        {!settings.storesRequests && (
          <p class="info">
            This gateway stores no requests: its operator has set <code>REQUEST_LOG=off</code>. What is listed was
            stored by another gateway, or before.
          </p>
        )}
        <div class="filters" role="group" aria-label="Filter requests">
          {choice('Result', 'result', RESULTS)}
          {choice('Status', 'status', [ANY, ...[...STATUSES, ...MORE_STATUSES].map((one) => [one, one] as const)])}
          {choice('API', 'api', [ANY, ...Object.entries(APIS)])}
          <label class="filter">
            Operation
            <input {...text} {...field('operation')} list="operations" placeholder="any" maxLength={200} />
          </label>
          <label class="filter">
            Request id
            <input {...text} {...field('request_id')} placeholder="X-Request-Id" maxLength={128} />
          </label>
        </div>
        <Table
          of={list}
          class="requests"
          name={title}
          columns={['When', 'Request', ...(isOfKey ? [] : ['Key']), 'API', 'Status', 'Took', 'From', 'Details']}
          none={nothing()}
          more="Show older requests"
        >
          {list.rows.map((request) => (
            <Row
              key={request.id}
              of={request}
              isOfKey={isOfKey}
              place={place.id}
              isOpen={opened.has(request.id)}
              toggle={() => toggle(request.id)}
            />
          ))}
        </Table>
        <p class="hint">
          {settings.storesRequests
            ? STORED
            : 'Stored requests are kept for 7 days, without query, headers, body and key.'}
        </p>
      </>,
      place,
    );
  }

  draw();
  return {
    /** Shows the requests that the address says. */
    open(id?: string): Promise<void> {
      clearTimeout(typing);
      if (id !== keyId) opened.clear();
      keyId = id;
      const details = chosen('details');
      if (details !== null) opened.add(details);
      filters = Object.fromEntries(FILTERS.map((name) => [name, chosen(name) ?? ''])) as Filters;
      list.clear();
      return list.load();
    },
    close(): void {
      clearTimeout(typing);
      list.clear();
    },
  };
}

const ANY = ['', 'any'] as const;
const RESULTS = [
  ['', 'all'],
  ['failed', 'failed'],
  ['successful', 'successful'],
] as const;
const STORED =
  'Requests are kept for 7 days: of each organisation at most 10,000 that failed and 10,000 that succeeded. Every one that failed is listed or counted in “more like it”, except in a flood of them; of the others the first hundred, then one a minute. Query, headers, body and key are not stored. A new request appears within seconds; requests with a wrong key never do.';

/** `7.5 ms`, `1.2 s` */
export function length(ms: number): string {
  const [value, unit] = ms < 1000 ? [ms, 'ms'] : [Math.round(ms / 100) / 10, 's'];
  return `${value.toLocaleString('en')} ${unit}`;
}

interface RowProps {
  readonly of: Request;
  readonly isOfKey: boolean;
  readonly place: string;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}

function NamedLink({ id }: { id: string }): JSX.Element {
  const name: string = nameOf(id) ?? `key ${id.slice(0, 8)}`;
  return (
    <a class="key-name" href={`/settings/keys/${id}`} title={name}>
      {name}
    </a>
  );
}

/** A request, and its details below it. */
function Row({ of: request, isOfKey, place, isOpen, toggle }: RowProps): JSX.Element {
  const { id, at, key_id: key, face, ms, address } = request;
  const what = request.operation ?? request.path;
  const details = `${place}-${id}`;
  return (
    <>
      <tr>
        <Cell label="When" class="moment">
          <Ago at={at} />
        </Cell>
        <Head label="Request">
          <code>{what}</code>
        </Head>
        {!isOfKey && (
          <Cell label="Key" class="long">
            <NamedLink id={key} />
          </Cell>
        )}
        <Cell label="API" class="left">
          {APIS[face]}
        </Cell>
        <Cell label="Status">
          <Status {...request} />
        </Cell>
        <Cell label="Took" class="right took">
          {length(ms)}
        </Cell>
        <Cell label="From" class="long">
          {address}
        </Cell>
        <Cell label="Details">
          <div class="actions">
            <button
              class="button"
              type="button"
              aria-controls={details}
              aria-expanded={isOpen}
              aria-label={`Details of ${what} at ${exact(at)}`}
              onClick={toggle}
            >
              Details
            </button>
          </div>
        </Cell>
      </tr>
      <tr class="request-details" id={details} hidden={!isOpen}>
        {isOpen && <Details of={request} isOfKey={isOfKey} />}
      </tr>
    </>
  );
}

function Status({ status, code, similar }: Request): JSX.Element {
  const state = code !== null || (status >= 400 && status !== LEFT) ? 'failed' : status === LEFT ? '' : 'succeeded';
  return (
    <>
      <span class={`state ${state}`}>{status}</span>
      {code !== null && <span class="quiet">{code.split(/(?<=_)/).map((part, at) => [at > 0 && <wbr />, part])}</span>}
      {status === LEFT && <span class="quiet">the caller disconnected</span>}
      {similar > 0 && <span class="quiet">and {similar.toLocaleString('en')} more like it</span>}
    </>
  );
}

/** Why a key was refused. */
const REFUSALS = {
  revoked: 'the key is revoked',
  expired: 'the key has expired',
  address: 'the key does not allow this address',
};

function Details({ of: request, isOfKey }: { of: Request; isOfKey: boolean }): JSX.Element {
  const { at, key_id: key, method, path, operation, face, code, reason, status, ms, address, similar } = request;
  const facts: (readonly [string, ComponentChildren])[] = [
    ['When', exact(at)],
    ['Request', <code>{`${method} ${path}`}</code>],
    ['Operation', operation === null ? 'not known: it failed before' : <code>{operation}</code>],
    ['API', APIS[face]],
    ['Status', status === LEFT ? `${String(LEFT)}: the caller disconnected before the answer` : status],
  ];
  if (code !== null)
    facts.push([
      'Error code',
      <a href={`/errors/${code}`}>
        <code>{code}</code>
      </a>,
    ]);
  if (reason !== null) facts.push(['Refused because', REFUSALS[reason]]);
  facts.push(['Took', length(ms)], ['From', address]);
  if (!isOfKey) facts.push(['Key', <NamedLink id={key} />]);
  if (similar > 0) {
    const alike = 'with the same key, operation, status and code within seconds';
    facts.push(['More like it', `${similar.toLocaleString('en')}, ${alike}`]);
  }
  return (
    <td colSpan={8}>
      <Copyable name="Request id" text={request.request_id} />
      <p class="hint">The request id, as in the answer’s header X-Request-Id and in the gateway’s log.</p>
      <Facts of={facts} />
    </td>
  );
}
