/* The switch between live data and the sandbox: making a sandbox takes some seconds, in which a second click would do nothing. */

import { BASE } from '../base';

const form = document.querySelector('form.mode');
function disable(isDisabled) {
  for (const button of form.querySelectorAll('button')) button.disabled = isDisabled;
}

form?.addEventListener('submit', ({ submitter }) => {
  const pathname = location.pathname.slice(BASE.length).replace('/settings/sandbox/', '/settings/');
  const [, , list, id] = pathname.split('/');
  // what does not exist in this mode may exist in the other
  const isMissing =
    id && document.querySelector(':is([data-page]:not([hidden]), dialog[open]) .alert[data-code="not_found"]');
  const start = submitter.value === 'test' ? '/settings/sandbox' : '/settings';
  form.elements.page.value = `${start}/${isMissing ? `${list}/${id}` : list}`;
  const words = submitter.textContent;
  submitter.textContent = submitter.dataset.busy;
  // only after the submit, since a disabled button's value would not be sent
  setTimeout(disable, 0, true);
  addEventListener(
    'beforeunload',
    (leaving) =>
      // whoever is asked may stay, which no event tells
      setTimeout(() => {
        if (!leaving.defaultPrevented) return;
        submitter.textContent = words;
        disable(false);
      }),
    { once: true },
  );
});
// after Back, the browser would show this page as it was left, with its buttons disabled
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
