/* The switch between live data and the sandbox: making a sandbox takes some seconds, in which a second click would do nothing. */

const form = document.querySelector('form.mode');
form?.addEventListener('submit', ({ submitter }) => {
  const { pathname } = location;
  const [, , list, id] = pathname.split('/');
  // what is not here may be there
  const isMissing = id && document.querySelector('[data-page]:not([hidden]) .alert:not([hidden])');
  form.elements.page.value = isMissing ? pathname : `/settings/${list}`;
  submitter.textContent = submitter.dataset.busy;
  // a disabled button would not be sent
  setTimeout(() => {
    for (const button of form.querySelectorAll('button')) button.disabled = true;
  });
});
// back from the next page, the browser shows this one as it was left
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
