import '../prose';
import '../settings.css';
import './signIn.css';

/* Makes sure that a form, such as that of a link, is sent only once. The page also works without this. */

const form = document.querySelector('main form');
if (form) {
  const buttons = [...form.querySelectorAll('button')];
  const texts = buttons.map((button) => button.textContent);
  const setSent = (pressed) =>
    buttons.forEach((button, at) => {
      // not `disabled`, which would take the focus away
      button.setAttribute('aria-disabled', String(pressed !== undefined));
      button.textContent = button === pressed ? (button.dataset.busy ?? 'Signing in…') : texts[at];
    });
  form.addEventListener('submit', (event) => {
    // a link works only once, so a second press would be told that it has been used
    if (buttons.some((button) => button.getAttribute('aria-disabled') === 'true')) event.preventDefault();
    else setSent(event.submitter ?? buttons[0]);
  });
  // after Back, the browser may show the page as it was left
  addEventListener('pageshow', ({ persisted }) => persisted && setSent());
}
