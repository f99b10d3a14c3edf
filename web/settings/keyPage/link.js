import { call } from '../api';
import { element } from '../dom';

/* Links to the pages of keys, and the names of keys that were read so far. */

const names = new Map();

/** Something that is seen: neither controls, spaces and marks alone, nor characters that are drawn as nothing. */
const SEEN = /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** The name of a key; of one whose name shows as nothing, what lists show of its value. */
export function shownName({ name, prefix = 'key ', last_four: lastFour }) {
  return SEEN.test(name) ? name : `${prefix}…${lastFour}`;
}

/** Remembers the names of keys. */
export function noteNames(keys) {
  for (const key of keys) names.set(key.id, shownName(key));
}

/** @returns {string | undefined} The name of a key; undefined if it was not read yet. */
export function nameOf(id) {
  return names.get(id);
}

/** A link to the page of a key, of at most two lines; `focus` is its `data-focus`. */
export function keyLink(id, text, focus) {
  const attributes = {
    class: 'key-name',
    href: `/settings/keys/${id}`,
    title: text,
    'data-key': id,
    'data-focus': focus,
  };
  return element('a', attributes, text);
}

/** Reads the names that are not known yet of these keys; what cannot be read has none. */
export async function readNames(ids) {
  const unknown = new Set(ids.filter((id) => !names.has(id)));
  await Promise.all(
    [...unknown].map((id) =>
      call('key', { id }).then(
        (key) => noteNames([key]),
        () => undefined,
      ),
    ),
  );
}
