/* Creates and fills elements; text is always set as text, never as HTML. */

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

/** A cell labelled with its column, for narrow screens, where rows are shown as cards. */
export function cell(label, ...children) {
  return element('td', { 'data-label': label }, element('div', {}, ...children));
}

/** A date, with the full timestamp as its tooltip. */
export function moment(iso, otherwise) {
  if (iso === null) return otherwise;
  return element('time', { datetime: iso, title: iso }, iso.slice(0, 10));
}

/** Announces a sentence to screen readers. */
export function say(sentence) {
  byId('said').textContent = sentence;
}

/** Shows a failure in an alert, or hides it. */
export function showFailure(place, sentence) {
  place.textContent = sentence ?? '';
  place.hidden = sentence === undefined;
}

// browsers only offer the clipboard on https and loopback
const canCopy = navigator.clipboard !== undefined;

/** Makes the copy buttons inside an element copy the text before them. */
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
