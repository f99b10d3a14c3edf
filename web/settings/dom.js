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

/** @returns {HTMLElement} */
export function byId(id) {
  return document.getElementById(id);
}

/** A cell labelled with its column, for narrow screens, where rows are shown as cards. */
export function cell(label, ...children) {
  return element('td', { 'data-label': label }, element('div', {}, ...children));
}

/** Announces a sentence to screen readers. */
export function say(sentence) {
  byId('said').textContent = sentence;
}

/**
 * Shows a failure ({message, link, remedy}) in an alert, or hides it. With `again`, its button tries again, unless the failure's remedy is another.
 * A focus inside stays there, or moves to the section's title.
 */
export function showFailure(place, failure, again) {
  const hadFocus = place.contains(document.activeElement);
  fill(place, failure, again);
  if (hadFocus) (place.querySelector('button') ?? titleOf(place))?.focus();
}

function titleOf(place) {
  const title = place.closest('section, [data-page]')?.querySelector('h1, h2');
  title?.setAttribute('tabindex', '-1');
  return title;
}

function fill(place, failure, again) {
  place.replaceChildren();
  place.hidden = failure === undefined;
  if (failure === undefined) return;
  place.append(failure.message);
  const { link } = failure;
  if (link) {
    place.append(' ', element('a', { href: link.href, target: link.isHere ? undefined : '_blank' }, link.text));
  }
  if (!again) return;
  const button = (text, click) =>
    place.append(' ', element('button', { class: 'button', type: 'button', click }, text));
  // of what would fail again, as api.js says
  const { remedy = 'again' } = failure;
  if (remedy === 'again') button('Try again', again);
  if (remedy === 'reload') button('Reload', () => location.reload());
}

/** Makes the copy buttons inside an element copy the text before them, or select it and say so where browsers refuse. */
export function wireCopying(place) {
  const failed = place.querySelector('[data-copy-failure]');
  for (const button of place.querySelectorAll('[data-copy]')) {
    button.addEventListener('click', async () => {
      const text = button.previousElementSibling;
      try {
        // browsers only offer the clipboard on https and loopback
        await navigator.clipboard.writeText(text.textContent);
        if (failed) showFailure(failed);
        button.textContent = 'Copied';
        say('Copied.');
      } catch {
        getSelection().selectAllChildren(text);
        button.textContent = 'Not copied';
        const message = 'The browser did not let the page copy. The text is selected: press Ctrl+C or ⌘C.';
        if (failed) showFailure(failed, { message });
      }
      setTimeout(() => (button.textContent = 'Copy'), 1500);
    });
  }
}
