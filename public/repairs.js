'use strict';

/*
 * What GraphiQL and Swagger UI leave out for screen readers and keyboards, put in whenever they draw anew. Each entry: what
 * is at fault, and its repair, which does nothing where it was done.
 */
const REPAIRS = [
  // GraphiQL: editors without a name, whose text scrolls but cannot be reached
  ['.graphiql-query-editor textarea', named('Query')],
  ['.graphiql-response textarea', named('Response')],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(1) textarea', named('Variables')],
  ['.graphiql-editor-tool .graphiql-editor:nth-child(2) textarea', named('Headers')],
  ['.CodeMirror-scroll', attributes({ tabindex: '0', role: 'group', 'aria-label': 'Text' })],
  // tabs that hold buttons, which no tab may: a group of buttons, one of them current
  ['.graphiql-tabs', attributes({ role: 'group' })],
  ['.graphiql-tab', attributes({ role: 'none' })],
  ['.graphiql-tab[aria-selected]', without('aria-selected')],
  ['.graphiql-tab .graphiql-tab-button', (button) => mark(button, 'graphiql-tab-active')],
  // Swagger UI: parts outside of any landmark, links inside buttons, a list without a name, headings that skip a level
  ['.information-container > section', named('About this API')],
  ['.scheme-container > section', named('Server and key')],
  ['section.models', named('Schemas')],
  ['.opblock-summary-control a[href]', without('href')],
  ['#servers', named('Server')],
  ['h3.opblock-tag, section.models h4', attributes({ 'aria-level': '2' })],
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
  const isCurrent = button.parentElement.classList.contains(active);
  if (isCurrent === (button.getAttribute('aria-current') === 'true')) return;
  if (isCurrent) button.setAttribute('aria-current', 'true');
  else button.removeAttribute('aria-current');
}

function repair() {
  for (const [selector, mend] of REPAIRS) for (const element of document.querySelectorAll(selector)) mend(element);
}

new MutationObserver(repair).observe(document.getElementById('content'), {
  subtree: true,
  childList: true,
  attributes: true,
  attributeFilter: ['role', 'href', 'class', 'aria-selected', 'tabindex'],
});
