/* Building and filling elements; texts are set as texts, never as HTML. */

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === 'function') made.addEventListener(key, value);
    else made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

export function byId(id) {
  return document.getElementById(id);
}

/** A cell that names its column where the table is shown as cards. */
export function cell(label, ...children) {
  return element('td', { 'data-label': label }, element('div', {}, ...children));
}

/** A moment as a day and, for the pointer and screen readers, in full. */
export function moment(iso, otherwise) {
  if (iso === null) return otherwise;
  return element('time', { datetime: iso, title: iso }, iso.slice(0, 10));
}

/** Says a sentence to screen readers. */
export function say(sentence) {
  byId('said').textContent = sentence;
}

/** Shows a failure in an alert, or hides it. */
export function showFailure(place, sentence) {
  place.textContent = sentence ?? '';
  place.hidden = sentence === undefined;
}

// browsers offer the clipboard to https and loopback only
const canCopy = navigator.clipboard !== undefined;

/** Makes the copy buttons below a place copy the text before them. */
export function wireCopying(place) {
  for (const button of place.querySelectorAll('[data-copy]')) {
    button.hidden = !canCopy;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(button.previousElementSibling.textContent);
      button.textContent = 'Copied';
      say('Copied.');
      setTimeout(() => (button.textContent = 'Copy'), 1500);
    });
  }
}
