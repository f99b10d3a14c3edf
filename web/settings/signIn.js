import '../prose';
import '../settings.css';
import './signIn.css';

/* Makes sure that a form, such as that of a link, is sent only once. The page also works without this. */

const form = document.querySelector('main form');
if (form) {
  const button = form.querySelector('button');
  const text = button.textContent;
  const setSent = (isSent) => {
    // not `disabled`, which would take the focus away
    button.setAttribute('aria-disabled', String(isSent));
    button.textContent = isSent ? 'Signing in…' : text;
  };
  form.addEventListener('submit', (event) => {
    // a link works only once, so a second press would be told that it has been used
    if (button.getAttribute('aria-disabled') === 'true') event.preventDefault();
    else setSent(true);
  });
  // after Back, the browser may show the page as it was left
  addEventListener('pageshow', ({ persisted }) => persisted && setSent(false));
}
