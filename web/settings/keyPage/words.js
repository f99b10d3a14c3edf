import { settings } from '../api';
import { element } from '../dom';
import { ago, exact } from '../time';
import { keyLink, shownName } from './link';

/* How a key is described. */

/** What lists show of a key's value. */
export function keyText({ prefix, last_four: lastFour }) {
  return element('code', {}, `${prefix}…${lastFour}`);
}

/** A key that this one replaced, or that replaced it. */
function linkTo(key) {
  return element('span', {}, keyLink(key.id, shownName(key)), ' ', keyText(key));
}

/** What there is to say of its state, beside the state's name, as parts of a line. */
export function stateOf({ state, revoked_at: revoked, expires_at: expires, rotated_to: to }) {
  if (state === 'revoked') return [' ', ago(revoked)];
  if (expires === null) return [];
  if (state === 'expired') return [' ', ago(expires)];
  return [to === null ? ' expires ' : ' ends ', ago(expires)];
}

/** What decides what becomes of its requests; empty if nothing does. `next` is the key that replaced it. */
export function noticeOf({ state, expires_at: expires }, next) {
  const replaced = next === null ? [] : ['Replaced by ', linkTo(next), '. '];
  if (state !== 'active') return [...replaced, 'Every request with it gets a 401.'];
  if (next !== null) replaced.push(`It works until ${exact(expires)}: switch to the new one before. `);
  if (!settings.hasPlan) replaced.push('The plan does not include integrations: every request with it gets a 403.');
  return replaced;
}

/** `previous` is the key that it replaced, if any. */
export function factsOf(key, previous) {
  const { scopes, mcp, allowed_ranges: ranges, created_at: made, created_by: by } = key;
  const { last_used_at: used, last_used_from: from } = key;
  return [
    ['Key', [keyText(key)]],
    ['Scopes', [chips(scopes)]],
    ['Allowed addresses', ranges.length === 0 ? ['any'] : [chips(ranges)]],
    ['Assistants, over MCP', [MCP[mcp]]],
    endOf(key),
    ['Created', [ago(made), ` by ${by}`]],
    ['Last used', [ago(used, 'never'), ...(from === null ? [] : [` from ${from}`])]],
    ...(previous === null ? [] : [['Replaces', [linkTo(previous)]]]),
  ].map(([name, parts]) => element('div', {}, element('dt', {}, name), element('dd', {}, ...parts)));
}

/** Until when it works, or since when it does not. */
function endOf({ state, revoked_at: revoked, expires_at: expires }) {
  const [name, at] =
    state === 'revoked' ? ['Revoked', revoked] : [state === 'expired' ? 'Expired' : 'Expires', expires];
  return [name, at === null ? ['never'] : [ago(at), ` (${exact(at)})`]];
}

const MCP = {
  off: 'may not use it',
  read: 'may read, within its scopes',
  write: 'may read and write, within its scopes',
};

function chips(texts) {
  return element('ul', { class: 'chips' }, ...texts.map((text) => element('li', {}, text)));
}
