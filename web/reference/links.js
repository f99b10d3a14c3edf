/* Links to operations, #/tag/operation, and to groups of them, #/tag. */

const lost = document.querySelector('#operations .lost');
const search = document.getElementById('search');
const LONGEST_SHOWN = 80;

search.addEventListener('input', () => (lost.textContent = ''));

/** Opens the operation or group that the fragment names and scrolls to it; reports an unknown one. */
export function openLinked({ layoutActions }, operations) {
  const name = linkedName();
  const operation = operations.find(({ tag, id }) => name === `${tag}/${id}`);
  const tag = operation?.tag ?? operations.find((one) => name === one.tag)?.tag;
  lost.textContent = '';
  if (name === '') return;
  if (tag === undefined) {
    lost.textContent = `There is no operation ${name.slice(0, LONGEST_SHOWN)}. Search for it here.`;
    scrollTo(0, 0);
    search.focus();
    return;
  }
  const link = operation ? `#/${tag}/${operation.id}` : `#/${tag}`;
  // or Back would come to what opens it again
  if (location.hash !== link) history.replaceState(null, '', link);
  layoutActions.show(['operations-tag', tag], true);
  if (operation) {
    layoutActions.show(['operations', tag, operation.id], true);
    // its last part: before that is drawn, the page may be too short to scroll to it
    whenDrawn(`#operations-${tag}-${operation.id} .responses-table`, (answers) => {
      const block = answers.closest('.opblock');
      bringIntoView(block, block.querySelector('.opblock-summary-control'));
    });
  } else {
    whenDrawn(`#operations-tag-${tag}`, (title) => bringIntoView(title, title.querySelector('button')));
  }
}

/** The name in the fragment, in lower case and without an appended query; empty if the fragment is not a link. */
export function linkedName() {
  if (!location.hash.startsWith('#/')) return '';
  return decoded(location.hash.slice(2))
    .replace(/[?&].*$/, '')
    .replace(/\/+$/, '')
    .toLowerCase();
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function bringIntoView(element, control) {
  element.scrollIntoView();
  // whoever types a key while the page is loaded goes on typing
  if (!document.getElementById('key').contains(document.activeElement)) control.focus({ preventScroll: true });
}

/** Waits for the latest link only. */
let observer;

function whenDrawn(selector, work) {
  const look = () => {
    const found = document.querySelector(selector);
    if (!found) return;
    observer.disconnect();
    work(found);
  };
  observer?.disconnect();
  observer = new MutationObserver(look);
  observer.observe(document.getElementById('reference'), { subtree: true, childList: true });
  look();
}
