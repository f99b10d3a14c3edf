import { Failure, failureOf, renewed, settings, WITHIN } from './api';
import { tell } from './notices';

/* Signing out. Without this the form does it, but after a lost answer the browser's own error page says nothing of the session. */

const form = document.querySelector('form.account');
let isRunning = false;

form.addEventListener('submit', (event) => {
  event.preventDefault();
  void signOut(new URLSearchParams(new FormData(form, event.submitter)));
});

async function signOut(fields) {
  if (isRunning) return;
  isRunning = true;
  try {
    // refused before anything was done: the session may have been replaced by signing in again in another tab
    const isDone = (await post(fields)) || ((await renewed()) && (await post(fields)));
    if (!isDone) throw new Failure('You were not signed out: this page is too old. Reload it.', { code: 'forbidden' });
    location.assign('/settings/sign-in');
  } catch (error) {
    const { message: text, remedy } = failureOf(error);
    const isOld = remedy === 'reload';
    const does = () => (isOld ? location.reload() : signOut(fields));
    tell('page', { text, button: { text: isOld ? 'Reload' : 'Try again', does } });
  } finally {
    isRunning = false;
  }
}

/** Resolves with whether that was done, or refused. @throws Failure if that is not known */
async function post(fields) {
  fields.set('csrf', settings.csrf);
  const options = { method: 'POST', body: fields, redirect: 'manual', signal: AbortSignal.timeout(WITHIN) };
  const { type, status } = await fetch(form.action, options).catch(() => ({}));
  // where it leads may be lost too
  if (type === 'opaqueredirect') return true;
  if (status === 403) return false;
  throw new Failure('We couldn’t confirm that you are signed out: try again.');
}
