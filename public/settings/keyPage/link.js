import { call } from '../api.js';
import { element } from '../dom.js';

/* Links to the pages of keys, and the names of keys that were read so far. */

const names = new Map();

/** Remembers the names of keys. */
export function noteNames(keys) {
  for (const { id, name } of keys) names.set(id, name);
}

/** The name of a key; undefined if it was not read yet. */
export function nameOf(id) {
  return names.get(id);
}

/** A link to the page of a key; `focus` is its `data-focus`. */
export function keyLink(id, text, focus) {
  return element('a', { href: `?key=${id}`, 'data-key': id, 'data-focus': focus }, text);
}

/** A link whose text is the key's name, or its id until {@link showNames} has read it. */
export function namedLink(id) {
  return element(
    'a',
    { href: `?key=${id}`, 'data-key': id, 'data-named': true },
    nameOf(id) ?? `key ${id.slice(0, 8)}`,
  );
}

/** Reads the names that are not known of the keys that a place links to, and shows them there; what cannot be read keeps its id. */
export async function showNames(place) {
  const links = [...place.querySelectorAll('[data-named]')];
  const unknown = new Set(links.map(({ dataset }) => dataset.key).filter((id) => !names.has(id)));
  await Promise.all(
    [...unknown].map((id) =>
      call('key', { id }).then(
        (key) => noteNames([key]),
        () => undefined,
      ),
    ),
  );
  for (const link of links) link.textContent = nameOf(link.dataset.key) ?? link.textContent;
}
