import { Failure, now } from '../api';

/* Fields that the dialogs of keys share. */

const DAY = 86_400_000;
/** The choice that changes nothing. */
export const AS_IT_IS = 'as-it-is';

/** Asks for a date if that is chosen, and lets faults be shown at the field that they are about. */
export function wireExpiry(form) {
  const { expires, date } = form.elements;
  const description = expires.getAttribute('aria-describedby');
  const follow = () => {
    const isDate = expires.value === 'date';
    for (const part of form.querySelectorAll('[data-date]')) part.hidden = !isDate;
    const [described, other] = isDate ? [date, expires] : [expires, date];
    described.setAttribute('aria-describedby', description);
    other.removeAttribute('aria-describedby');
  };
  expires.addEventListener('change', follow);
  // the event comes before the fields are as they were
  form.addEventListener('reset', () => queueMicrotask(follow));
}

/** What was chosen, in ISO 8601: the choice itself if it is a time, null for never, undefined for what it is already. @throws Failure without a date to come */
export function expiryOf(given) {
  const choice = given.get('expires');
  if (choice === AS_IT_IS || choice === null) return undefined;
  if (choice === '') return null;
  if (choice.includes('T')) return choice;
  if (choice !== 'date') return new Date(now() + Number(choice) * DAY).toISOString();
  const end = Date.parse(`${given.get('date')}T23:59:59.000Z`);
  const fault = (detail) => {
    const faults = [{ pointer: '/expires_at', detail }];
    return new Failure('The date is missing.', { code: 'page', faults });
  };
  if (Number.isNaN(end)) throw fault('enter a date');
  if (end <= now()) throw fault('must not be in the past');
  return new Date(end).toISOString();
}

/** The ranges that were entered. */
export function rangesOf(given) {
  return given
    .get('ranges')
    .split(',')
    .map((range) => range.trim())
    .filter((range) => range !== '');
}
