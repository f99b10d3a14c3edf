/*
 * Accessibility fixes for GraphiQL, applied each time it renders. Each entry has a selector and an
 * idempotent fix.
 */
const REPAIRS = [
  // GraphiQL: editors without a name, and scrollable text that cannot get focus
  ['.graphiql-query-editor textarea', named('Query')],
  ['.graphiql-response textarea', named('Response')],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(1) textarea', named('Variables')],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(2) textarea', named('Headers')],
  ['.CodeMirror-scroll', attributes({ tabindex: '0', role: 'group', 'aria-label': 'Text' })],
  // tabs that contain buttons, which ARIA does not allow: make them a group of buttons, one of them current
  ['.graphiql-tabs', attributes({ role: 'group' })],
  ['.graphiql-tab', attributes({ role: 'none' })],
  ['.graphiql-tab[aria-selected]', without('aria-selected')],
  ['.graphiql-tab .graphiql-tab-button', (button) => mark(button, 'graphiql-tab-active')],
  ['.graphiql-history-item-label[aria-label]', without('aria-label')],
  // the editor tools, of which one is open
  ['.graphiql-editor-tools button', (button) => show(button, button.classList.contains('active'))],
];

function attributes(wanted) {
  return (element) => {
    for (const [name, value] of Object.entries(wanted)) {
      if (element.getAttribute(name) !== value) element.setAttribute(name, value);
    }
  };
}

function named(name) {
  return attributes({ 'aria-label': name });
}

function without(name) {
  return (element) => element.removeAttribute(name);
}

function mark(button, active) {
  show(button, button.parentElement.classList.contains(active));
}

function show(button, isCurrent) {
  if (isCurrent === (button.getAttribute('aria-current') === 'true')) return;
  if (isCurrent) button.setAttribute('aria-current', 'true');
  else button.removeAttribute('aria-current');
}

function repair() {
  for (const [selector, fix] of REPAIRS) for (const element of document.querySelectorAll(selector)) fix(element);
}

new MutationObserver(repair).observe(document.getElementById('content'), {
  subtree: true,
  childList: true,
  attributes: true,
  attributeFilter: ['role', 'href', 'class', 'aria-selected', 'tabindex'],
});
