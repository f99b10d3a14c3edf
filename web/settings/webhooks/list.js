import { call, newest } from '../api';
import { byId, cell, element } from '../dom';
import { go } from '../route';
import { ago } from '../time';
import { addEndpoint } from './edit';
import { behind, stateNote, typeList, urlParts } from './words';

/* The list of webhook endpoints. */

const rows = byId('webhooks');
const { attempt } = newest();
/** The URLs of the endpoints that were shown last, by their ids. */
let known = new Map();

/** The address of an endpoint's page. */
export const addressOf = ({ id }) => `/settings/webhooks/${id}`;

/** Reads and shows the endpoints, oldest first; resolves with them, or undefined if that failed. */
export async function loadWebhooks() {
  const page = await attempt(() => call('endpoints'), byId('webhooks-failure'), loadWebhooks);
  if (!page) return undefined;
  const { data } = page;
  known = new Map(data.map(({ id, url }) => [id, url]));
  rows.replaceChildren(...data.map(row));
  byId('webhooks-table').hidden = data.length === 0;
  byId('no-webhooks').hidden = data.length > 0;
  const failing = data.filter(({ state }) => state === 'failing').length;
  byId('failing').hidden = failing === 0;
  byId('failing').textContent = `${failing} failing`;
  return data;
}

function row(endpoint) {
  const { url, types, state, last_success_at: last } = endpoint;
  const note = stateNote(endpoint);
  return element(
    'tr',
    { class: state === 'disabled' ? 'ended' : undefined },
    element(
      'th',
      { scope: 'row', 'data-label': 'URL' },
      element('div', {}, element('a', { class: 'url', href: addressOf(endpoint) }, ...urlParts(url))),
    ),
    cell('Events', typeList(types, 3)),
    cell(
      'State',
      element('span', { class: `tag ${state}` }, state),
      note.length === 0 ? undefined : element('span', { class: 'quiet' }, ...note),
    ),
    cell('Behind', ...behind(endpoint)),
    cell('Last accepted', ago(last, 'never')),
  );
}

/** Ids of endpoints whose secret was lost on its way to this page. */
export const lost = new Set();

/** Makes the button add endpoints; `changed` is called after each. */
export function wireAdding(changed) {
  document.querySelector('[data-add-webhook]')?.addEventListener('click', () =>
    addEndpoint({
      changed,
      known,
      read: loadWebhooks,
      showLost(endpoint) {
        lost.add(endpoint.id);
        go(addressOf(endpoint));
      },
    }),
  );
}
