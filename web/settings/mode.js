/* The switch between live data and the sandbox: making a sandbox takes some seconds, in which a second click would do nothing. */

import { BASE } from '../base';

const form = document.querySelector('form.mode');
form?.addEventListener('submit', ({ submitter }) => {
  const pathname = location.pathname.slice(BASE.length).replace('/settings/sandbox/', '/settings/');
  const [, , list, id] = pathname.split('/');
  // what does not exist in this mode may exist in the other
  const isMissing = id && document.querySelector('[data-page]:not([hidden]) .alert:not([hidden])');
  form.elements.page.value = isMissing ? pathname : `/settings/${list}`;
  submitter.textContent = submitter.dataset.busy;
  // only after the submit, since a disabled button's value would not be sent
  setTimeout(() => {
    for (const button of form.querySelectorAll('button')) button.disabled = true;
  });
});
// after Back, the browser would show this page as it was left, with its buttons disabled
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
