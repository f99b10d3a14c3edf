import { element } from './dom.js';

/* A button that opens a menu of actions (the menu button of WAI-ARIA's practices). */

/** The distances from its button and from the edge of the window, and about how high an item is, in pixels. */
const [GAP, MARGIN, ITEM] = [4, 16, 40];

/** `label` names the button, `focus` is its `data-focus`; `items` are `{text, does, isDangerous}`. */
export function menuButton(label, focus, items) {
  const entries = items.map(({ text, does, isDangerous }) =>
    element(
      'button',
      {
        ...{ class: isDangerous ? 'bad' : undefined, type: 'button', role: 'menuitem', tabindex: '-1' },
        click() {
          menu.hidePopover();
          does();
        },
      },
      text,
    ),
  );
  const menu = element('div', { class: 'menu', role: 'menu', popover: 'auto', 'aria-label': label }, ...entries);
  const button = element(
    'button',
    {
      ...{ class: 'button menu-button', type: 'button', 'aria-haspopup': 'menu', 'aria-expanded': 'false' },
      ...{ 'aria-label': label, 'data-focus': focus },
    },
    '⋯',
  );
  button.popoverTargetElement = menu;
  button.addEventListener('keydown', (event) => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
    event.preventDefault();
    menu.showPopover();
    entries.at(event.key === 'ArrowDown' ? 0 : -1).focus();
  });
  wire(menu, button, entries);
  return element('div', { class: 'actions' }, button, menu);
}

function wire(menu, button, entries) {
  const close = () => menu.hidePopover();
  menu.addEventListener('beforetoggle', ({ newState }) => {
    const isOpen = newState === 'open';
    button.setAttribute('aria-expanded', String(isOpen));
    if (!isOpen) return;
    const { top, bottom, left, right } = button.getBoundingClientRect();
    const { clientWidth: width } = document.documentElement;
    const height = entries.length * ITEM;
    const isBelow = bottom + GAP + height <= innerHeight || top < height;
    const isLeft = left + right < width;
    menu.style.left = isLeft ? `${left}px` : 'auto';
    menu.style.maxWidth = `${(isLeft ? width - left : right) - MARGIN}px`;
    menu.style.right = isLeft ? 'auto' : `${width - right}px`;
    menu.style.top = isBelow ? `${bottom + GAP}px` : 'auto';
    menu.style.bottom = isBelow ? 'auto' : `${innerHeight - top + GAP}px`;
  });
  menu.addEventListener('toggle', ({ newState }) => {
    if (newState !== 'open') return;
    if (!menu.contains(document.activeElement)) entries[0].focus({ preventScroll: true });
    // it stays where it is while its button moves
    for (const event of ['scroll', 'resize']) addEventListener(event, close, { once: true, passive: true });
  });
  menu.addEventListener('keydown', (event) => {
    const at = entries.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      entries.at(to % entries.length).focus();
    } else if (event.key === 'Tab') {
      // the focus goes on from the button
      close();
    } else if (event.key.length === 1) {
      const isMatch = ({ textContent }) => textContent.toLowerCase().startsWith(event.key.toLowerCase());
      [...entries.slice(at + 1), ...entries].find(isMatch)?.focus();
    }
  });
}
