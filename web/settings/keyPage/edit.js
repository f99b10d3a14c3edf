import { call, failureOf } from '../api';
import { askChange } from '../change';
import { byId, say } from '../dom';
import { nameElements } from '../once';
import { exact } from '../time';
import { expiryOf, rangesOf, wireExpiry } from './fields';

/* Changing what a key may be changed in. */

const dialog = byId('edit-dialog');
const form = dialog?.querySelector('form');
if (form) wireExpiry(form);

/** Asks for what is to be changed, and sends only that: what somebody else has changed meanwhile stays. `changed` is called afterwards. */
export function editKey(key, changed) {
  const { id, name, allowed_ranges: ranges, expires_at: expires, rotated_to: to, mcp } = key;
  form.reset();
  const { elements } = form;
  elements.name.value = name;
  elements.ranges.value = ranges.join(', ');
  elements.mcp.value = mcp;
  elements.expires.options[0].textContent = expires === null ? 'never, as it is' : `${exact(expires)}, as it is`;
  const replaced = dialog.querySelector('[data-replaced]');
  dialog.querySelector('[data-expiry]').hidden = to !== null;
  replaced.hidden = to === null;
  replaced.textContent = to === null ? '' : `It was replaced, so it ends at ${exact(expires)}.`;
  askChange(dialog, {
    changed,
    doing: (given) => `Saving the key ${given.get('name').trim()}…`,
    doubt: () => 'We couldn’t confirm that it was saved. Saving it again does no harm.',
    async work(given) {
      const changes = changesOf(key, given);
      if (Object.keys(changes).length === 0) return () => say('Nothing was changed.');
      try {
        await call('update', { id, ...changes });
      } catch (error) {
        const failure = failureOf(error);
        nameElements(failure, changes);
        throw failure;
      }
      return () => {
        say(`Saved the key ${changes.name ?? name}.`);
        changed();
      };
    },
  });
}

function changesOf(key, given) {
  const wanted = {
    name: given.get('name').trim(),
    allowed_ranges: rangesOf(given),
    expires_at: expiryOf(given),
    mcp: given.get('mcp'),
  };
  const isChanged = ([name, value]) => value !== undefined && String(value) !== String(key[name]);
  return Object.fromEntries(Object.entries(wanted).filter(isChanged));
}
