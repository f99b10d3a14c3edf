import { choose, chosen } from './route.js';
import { call, newest, settings } from './api.js';
import { cell, element, say, showFailure, wireCopying } from './dom.js';
import { namedLink, showNames } from './keyPage/link.js';
import { redraw } from './modal.js';
import { busyWhile, readsOn } from './paged.js';
import { ago, exact } from './time.js';

/* The log of requests, of the organisation or of one key. What is chosen is in the address, as long as the list is shown. */

/** How long to wait for more to be typed, in milliseconds. */
const TYPING = 250;
const APIS = { rest: 'REST', graphql: 'GraphQL', mcp: 'MCP' };
/** The status of a request whose caller disconnected before the answer. */
const LEFT = 499;

const FILTERS = ['result', 'status', 'api', 'operation', 'request_id'];
/** The requests in a section of the page: `open(keyId)` shows those of a key, or of the organisation; `close()` leaves them. */
export function requestList(section) {
  const [failed, table, none, more, refresh] = ['failed', 'table', 'none', 'more', 'refresh'].map((name) =>
    section.querySelector(name === 'table' ? 'table' : `[data-${name}]`),
  );
  const rows = table.querySelector('tbody');
  const filters = new Map(FILTERS.map((name) => [name, section.querySelector(`[data-filter="${name}"]`)]));
  // an answer that comes after another choice was made is dropped
  const { attempt, drop } = newest();
  /** Ids of requests whose details are shown. */
  const opened = new Set();
  let keyId;

  const valueOf = (name) => filters.get(name).value.trim() || null;
  const isFiltered = () => FILTERS.some((name) => valueOf(name) !== null);

  function read(cursor) {
    const result = valueOf('result');
    return call('requests', {
      key_id: keyId,
      failed: result === null ? null : result === 'failed',
      status: valueOf('status'),
      face: valueOf('api'),
      operation: valueOf('operation'),
      request_id: valueOf('request_id'),
      cursor,
    });
  }

  function clear() {
    rows.replaceChildren();
    for (const one of [table, none, more]) one.hidden = true;
    showFailure(failed);
  }

  async function load() {
    const page = await attempt(() => read(), failed, load);
    if (!page) return;
    redraw(rows, rowsOf(page));
    table.hidden = page.data.length === 0;
    none.hidden = page.data.length > 0;
    none.textContent = nothing();
    follow(page);
  }

  const rowsOf = ({ data }) => data.flatMap(pair);
  const follow = readsOn(more, {
    ...{ attempt, place: failed, read, rows, rowsOf },
    shown: () => void showNames(rows),
  });

  function nothing() {
    if (valueOf('request_id') !== null && settings.storesRequests)
      return 'No request with this id. It may be too old, one of many alike that are only counted, or one without a valid key.';
    if (isFiltered()) return 'No matching requests.';
    if (!settings.storesRequests) return 'No stored requests.';
    return keyId === undefined ? 'No requests in the last 7 days.' : 'No requests with this key in the last 7 days.';
  }

  /** The row of a request, and the row of its details. */
  function pair(request) {
    const { id, at, key_id: key, face, ms, address } = request;
    const what = request.operation ?? request.path;
    const details = element('tr', { class: 'request-details', id: `${section.id}-${id}` });
    const button = element(
      'button',
      {
        ...{ class: 'button', type: 'button', 'aria-controls': details.id, 'data-focus': `request:${id}` },
        ...{ 'aria-label': `Details of ${what} at ${exact(at)}` },
      },
      'Details',
    );
    const show = () => {
      const isOpen = opened.has(id);
      details.hidden = !isOpen;
      button.setAttribute('aria-expanded', String(isOpen));
      details.replaceChildren(...(isOpen ? [detailsOf(request, keyId === undefined)] : []));
      if (!isOpen) return;
      wireCopying(details);
      void showNames(details);
    };
    button.addEventListener('click', () => {
      if (!opened.delete(id)) opened.add(id);
      choose({ details: [...opened].at(-1) ?? null });
      show();
    });
    show();
    const row = element(
      'tr',
      {},
      cell('When', ago(at), element('span', { class: 'quiet moment' }, exact(at))),
      element('th', { scope: 'row', 'data-label': 'Request' }, element('div', {}, element('code', {}, what))),
      ...(keyId === undefined ? [classed(cell('Key', namedLink(key)), 'long')] : []),
      classed(cell('API', APIS[face]), 'left'),
      cell('Status', ...statusOf(request)),
      classed(cell('Took', length(ms)), 'right', 'took'),
      classed(cell('From', address), 'long'),
      cell('Details', element('div', { class: 'actions' }, button)),
    );
    return [row, details];
  }

  function changed() {
    // another page is shown by now
    if (!section.checkVisibility()) return;
    choose(Object.fromEntries(FILTERS.map((name) => [name, valueOf(name)])));
    clear();
    void load();
  }

  let typing;
  for (const field of filters.values()) {
    field.addEventListener('input', () => {
      clearTimeout(typing);
      if (field.localName === 'select') changed();
      else typing = setTimeout(changed, TYPING);
    });
  }
  refresh.addEventListener('click', () =>
    busyWhile(refresh, async () => {
      await load();
      if (failed.hidden) say('Refreshed.');
    }),
  );

  return {
    async open(id) {
      if (id !== keyId) opened.clear();
      keyId = id;
      if (chosen('details') !== null) opened.add(chosen('details'));
      clearTimeout(typing);
      clear();
      for (const [name, field] of filters) {
        field.value = chosen(name) ?? '';
        // what the select does not have
        if (field.selectedIndex === -1) field.value = '';
      }
      await load();
    },
    close() {
      clearTimeout(typing);
      drop();
      clear();
    },
  };
}

/** `7.5 ms`, `1.2 s` */
export function length(ms) {
  const [value, unit] = ms < 1000 ? [ms, 'ms'] : [Math.round(ms / 100) / 10, 's'];
  return `${value.toLocaleString('en')} ${unit}`;
}

function classed(made, ...names) {
  made.classList.add(...names);
  return made;
}

function statusOf({ status, code, similar }) {
  const state = code !== null || (status >= 400 && status !== LEFT) ? 'failed' : status === LEFT ? '' : 'succeeded';
  const quiet = (...text) => element('span', { class: 'quiet' }, ...text);
  return [
    element('span', { class: `tag ${state}` }, String(status)),
    ...(code === null ? [] : [quiet(...codeParts(code))]),
    ...(status === LEFT ? [quiet('the caller disconnected')] : []),
    ...(similar > 0 ? [quiet(`and ${similar.toLocaleString('en')} more like it`)] : []),
  ];
}

/** Why a key was refused. */
const REFUSALS = {
  revoked: 'the key is revoked',
  expired: 'the key has expired',
  address: 'the key does not allow this address',
};

/** A code that is broken into lines at its underscores where there is a choice. */
function codeParts(code) {
  return code.split(/(?<=_)/).flatMap((part, at) => (at === 0 ? [part] : [element('wbr'), part]));
}

function detailsOf(request, hasKey) {
  const { at, key_id: key, method, path, operation, face, code, reason, status, ms, address, similar } = request;
  const text = (value) => element('code', {}, value);
  const facts = [
    ['When', [exact(at)]],
    ['Request', [text(`${method} ${path}`)]],
    ['Operation', operation === null ? ['not known: it failed before'] : [text(operation)]],
    ['API', [APIS[face]]],
    ['Status', [status === LEFT ? `${LEFT}: the caller disconnected before the answer` : String(status)]],
    ...(code === null ? [] : [['Error code', [element('a', { href: `/errors/${code}` }, text(code))]]]),
    ...(reason === null ? [] : [['Refused because', [REFUSALS[reason]]]]),
    ['Took', [length(ms)]],
    ['From', [address]],
    ...(hasKey ? [['Key', [namedLink(key)]]] : []),
    ...(similar === 0 ? [] : [['More like it', [`${similar.toLocaleString('en')}, ${ALIKE}`]]]),
  ];
  return element(
    'td',
    { colspan: '8' },
    element(
      'div',
      { class: 'command' },
      element('pre', { tabindex: '0', 'aria-label': 'Request id' }, element('code', {}, request.request_id)),
      element('button', { class: 'button', type: 'button', 'data-copy': true }, 'Copy'),
    ),
    element('p', { class: 'hint' }, 'The request id, as in the answer’s header X-Request-Id and in the gateway’s log.'),
    element('dl', { class: 'facts' }, ...facts.map(([name, parts]) => fact(name, parts))),
  );
}

const ALIKE = 'with the same key, operation, status and code within seconds';

function fact(name, parts) {
  return element('div', {}, element('dt', {}, name), element('dd', {}, ...parts));
}
