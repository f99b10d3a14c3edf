/* The search above the list of operations. */

const search = document.getElementById('search');
const status = document.querySelector('#operations [role=status]');
const none = document.querySelector('#operations .none');
/** Heading of the operations that match only in their text. */
const MENTIONED = 'Mentioned in';

/**
 * Shows the operations in `place` in groups. A search keeps those that contain all words: matches in the name first, then those in the
 * description, parameters, error codes or headers.
 */
export function narrowBySearch(operations, items, place) {
  const tags = [...new Set(operations.map(({ tag }) => tag))];
  const groups = new Map([...tags, MENTIONED].map((title) => [title, groupOf(title)]));
  place.append(...[...groups.values()].map(({ section }) => section));
  const narrow = () => {
    const found = matches(operations, search.value);
    for (const operation of operations) {
      const item = items.get(operation.id);
      const rank = found.get(operation);
      item.hidden = rank === undefined;
      groups.get(rank === 'text' ? MENTIONED : operation.tag).list.append(item);
    }
    for (const { section, list } of groups.values()) section.hidden = !list.querySelector('li:not([hidden])');
    status.textContent = found.size === 1 ? '1 operation' : `${String(found.size)} operations`;
    none.hidden = found.size > 0;
    none.querySelector('b').textContent = search.value.trim();
  };
  const first = () => place.querySelector('section:not([hidden]) li:not([hidden]) a');
  search.addEventListener('input', narrow);
  search.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter' && search.value.trim() !== '') first()?.click();
  });
  none.querySelector('button').addEventListener('click', () => {
    search.value = '';
    narrow();
    search.focus();
  });
  addEventListener('keydown', focusOnSlash);
  narrow();
  // announced only after a search
  status.textContent = '';
}

/** Where each operation that contains all words has them: in its `name` or in its `text`. */
function matches(operations, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (...texts) => words.every((word) => texts.some((text) => text.toLowerCase().includes(word)));
  const ranked = operations.map((operation) => {
    const { id, method, path, summary } = operation;
    const name = `${method} ${path} ${id} ${summary}`;
    return [operation, has(name) ? 'name' : has(name, operation.words) ? 'text' : undefined];
  });
  return new Map(ranked.filter(([, rank]) => rank));
}

function groupOf(title) {
  const section = document.createElement('section');
  const heading = document.createElement('h2');
  const list = document.createElement('ul');
  heading.textContent = title;
  section.append(heading, list);
  return { section, list };
}

function focusOnSlash(event) {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  const isTyping = target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]');
  if (key !== '/' || ctrlKey || metaKey || altKey || isTyping) return;
  event.preventDefault();
  search.focus();
  search.select();
}
