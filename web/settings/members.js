import { call, newest, settings } from './api.js';
import { byId, cell, element } from './dom.js';
import { ago, exact } from './time.js';

/* Who has signed in, the last first. */

const rows = byId('members');
const place = byId('members-failure');
const { attempt } = newest();

export async function loadMembers() {
  const list = await attempt(() => call('members'), place, loadMembers);
  if (!list) return;
  rows.replaceChildren(...list.data.map(row));
  byId('more-members').hidden = !list.has_more;
}

function row({ id, name, role, last_sign_in_at: at, from, signed_in: isSignedIn }) {
  const whose = id === settings.user ? `${name} (you)` : name;
  return element(
    'tr',
    {},
    element(
      'th',
      { scope: 'row', 'data-label': 'Name' },
      element('div', {}, whose, element('span', { class: 'quiet' }, id)),
    ),
    cell('Role', element('span', { class: 'tag' }, role)),
    cell('Last sign-in', ago(at), element('span', { class: 'quiet' }, exact(at))),
    cell('From', from),
    cell('Session', isSignedIn ? element('span', { class: 'tag active' }, 'signed in') : 'ended'),
  );
}
