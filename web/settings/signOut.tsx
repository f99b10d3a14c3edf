import { at } from '../base';
import { Failure, failureOf, renewed, settings, WITHIN } from './api';
import { ask } from './ask';
import { Notice, tell } from './notices';

/* Signing out. The form works without this, but after a lost answer the browser's own error page would say nothing about the session. */

const form = document.querySelector<HTMLFormElement>('form.account');

form?.addEventListener('submit', (event) => {
  event.preventDefault();
  const fields = new FormData(form, event.submitter);
  if (fields.has('everywhere')) askFirst(fields);
  else void signOutHere(fields);
});

function askFirst(fields: FormData): void {
  ask({
    title: 'Sign out everywhere?',
    button: 'Sign out everywhere',
    isDangerous: true,
    Body: () => (
      <p>
        All your sessions in this organisation end, in this browser and all others, and sign-in links that were created
        for you and not used yet stop working.
      </p>
    ),
    doing: () => 'Signing out everywhere…',
    work: () => signOut(fields),
  });
}

async function signOutHere(fields: FormData): Promise<void> {
  const notice = new Notice({ text: 'Signing out…' });
  try {
    await signOut(fields);
  } catch (error) {
    notice.remove();
    const { message: text, remedy } = failureOf(error);
    const button =
      remedy === 'reload'
        ? { text: 'Reload', does: () => location.reload() }
        : { text: 'Try again', does: () => signOutHere(fields) };
    tell('page', { text, button });
  }
}

/** Signs out, then leaves for the sign-in page; does not resolve. @throws Failure */
async function signOut(fields: FormData): Promise<never> {
  // refused before anything was done: the session may have been replaced by signing in again in another tab
  const isDone = (await post(fields)) || ((await renewed()) && (await post(fields)));
  if (!isDone) throw new Failure('You were not signed out: this page is too old. Reload it.', { code: 'forbidden' });
  location.assign(at('/settings/sign-in'));
  return new Promise(() => undefined);
}

/** Resolves with true if the user was signed out, and with false if that was refused. @throws Failure if neither is known */
async function post(fields: FormData): Promise<boolean> {
  fields.set('csrf', settings.csrf);
  const body = new URLSearchParams(fields as never);
  const signal = AbortSignal.timeout(WITHIN);
  const sending = fetch(at('/settings/sign-out'), { method: 'POST', body, redirect: 'manual', signal });
  const { type, status } = await sending.catch(() => Response.error());
  // not followed, since the page that it leads to may be lost too
  if (type === 'opaqueredirect') return true;
  if (status === 403) return false;
  throw new Failure('We couldn’t confirm that you are signed out: try again.');
}
