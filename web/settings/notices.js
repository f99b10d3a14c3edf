import { byId, element, showFailure } from './dom';

/* Notices above the lists and pages, which stay in sight: what goes on after its dialog was closed, what became of it, and that nobody is signed in. */

/**
 * Opens a notice. `set` changes what it says: a text with a link ({href, text}) and a button ({text, does}); `isAlert` if something is wrong, and
 * `asks` if the page must not be left without asking, since it would be lost.
 */
export function openNotice(content) {
  const place = element('div', { tabindex: '-1' });
  const own = {
    /** What it said first. */
    text: content.text,
    set({ text, link, button, isAlert = false, asks = false }) {
      const hadFocus = place.contains(document.activeElement);
      place.className = isAlert ? 'alert' : 'info';
      place.setAttribute('role', isAlert ? 'alert' : 'status');
      if (asks) place.dataset.unsaved = 'asks';
      else delete place.dataset.unsaved;
      showFailure(place, { message: text, link });
      if (button)
        place.append(' ', element('button', { class: 'button', type: 'button', click: button.does }, button.text));
      if (hadFocus) own.focus();
    },
    focus() {
      (place.querySelector('button, a') ?? place).focus();
    },
    isBusy(value) {
      place.querySelector('button')?.setAttribute('aria-disabled', String(value));
    },
    remove() {
      const hadFocus = place.contains(document.activeElement);
      place.remove();
      if (hadFocus) focusTitle();
    },
  };
  byId('notices').append(place);
  own.set(content);
  return own;
}

/** Makes a notice of what goes on one of its failure, until it is dismissed. */
export function failureNotice({ message, link }, notice) {
  notice.set({
    text: `${notice.text.replace(/…$/, ':')} ${message}`,
    link,
    isAlert: true,
    button: { text: 'Dismiss', does: notice.remove },
  });
}

function focusTitle() {
  document.querySelector('[data-page]:not([hidden]) h1').focus();
}

let session;

/** Says that the session is over, also after the dialog in which that was noticed is closed; undefined says that it is not. */
export function showSession(content) {
  if (content?.text === session?.text) return;
  session?.notice.remove();
  session = content && { text: content.text, notice: openNotice({ ...content, isAlert: true }) };
}
