/*
 * Accessibility fixes for GraphiQL, applied each time it renders. Each entry has a selector, and the attributes that its elements should
 * have, or a function of one: `undefined` for none.
 */
const REPAIRS = [
  // GraphiQL: editors without a name, and scrollable text that cannot get focus
  ['.graphiql-query-editor textarea', { 'aria-label': 'Query' }],
  ['.graphiql-response textarea', { 'aria-label': 'Response' }],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(1) textarea', { 'aria-label': 'Variables' }],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(2) textarea', { 'aria-label': 'Headers' }],
  ['.CodeMirror-scroll', { tabindex: '0', role: 'group', 'aria-label': 'Text' }],
  // tabs that contain buttons, which ARIA does not allow: make them a group of buttons, one of them current
  ['.graphiql-tabs', { role: 'group' }],
  ['.graphiql-tab', { role: 'none', 'aria-selected': undefined }],
  ['.graphiql-tab-button', ({ parentElement }) => current(parentElement.matches('.graphiql-tab-active'))],
  ['.graphiql-history-item-label', { 'aria-label': undefined }],
  // the editor tools, of which one is open
  ['.graphiql-editor-tools button', (button) => current(button.matches('.active'))],
];

function current(isCurrent) {
  return { 'aria-current': isCurrent ? 'true' : undefined };
}

function repair() {
  for (const [selector, wanted] of REPAIRS)
    for (const element of document.querySelectorAll(selector))
      for (const [name, value] of Object.entries(typeof wanted === 'function' ? wanted(element) : wanted)) {
        // otherwise this would be called again
        if (element.getAttribute(name) === (value ?? null)) continue;
        if (value === undefined) element.removeAttribute(name);
        else element.setAttribute(name, value);
      }
}

new MutationObserver(repair).observe(document.getElementById('content'), {
  subtree: true,
  childList: true,
  attributes: true,
  attributeFilter: ['role', 'class', 'aria-selected', 'tabindex'],
});
