import '../prose';
import '../settings.css';

/* Sends a link only once. The page works without this. */

const form = document.getElementById('link');
if (form) {
  const button = form.querySelector('button');
  const text = button.textContent;
  const setSent = (isSent) => {
    // not `disabled`, which would take the focus away
    button.setAttribute('aria-disabled', String(isSent));
    button.textContent = isSent ? 'Signing in…' : text;
  };
  form.addEventListener('submit', (event) => {
    // a link works once, and the answer to a second press would be that it has been used
    if (button.getAttribute('aria-disabled') === 'true') event.preventDefault();
    else setSent(true);
  });
  // somebody has come back to a page that the browser kept
  addEventListener('pageshow', ({ persisted }) => persisted && setSent(false));
}
