import { sentence } from './api';
import { byId, showFailure } from './dom';

/* What is wrong with what was entered in a dialog, said at its fields. */

export function clearFaults(dialog) {
  for (const place of dialog.querySelectorAll('[data-fault]')) showFailure(place);
  for (const field of dialog.querySelectorAll('[aria-invalid]')) field.removeAttribute('aria-invalid');
}

/** Takes a fault away once its field is changed. */
export function clearFault({ target }) {
  const field = target.closest('[aria-invalid]');
  if (!field) return;
  field.removeAttribute('aria-invalid');
  for (const id of field.getAttribute('aria-describedby').split(' ')) if (id.endsWith('-fault')) showFailure(byId(id));
}

/** Shows the faults of a failure at their fields; returns whether each has a place. */
export function showFaults(dialog, { faults }) {
  const placed = faults.map((fault) => ({
    place: dialog.querySelector(`[data-fault="${CSS.escape(fault.pointer.split('/')[1] ?? '')}"]`),
    detail: fault.detail,
  }));
  if (placed.length === 0 || placed.some(({ place }) => !place)) return false;
  for (const { place, detail } of placed) {
    const message = `${place.hidden ? '' : `${place.textContent} `}${sentence(detail)}`;
    showFailure(place, { message });
    const field = dialog.querySelector(`[aria-describedby~="${place.id}"]`);
    field.setAttribute('aria-invalid', 'true');
  }
  const first = dialog.querySelector('[aria-invalid]');
  const field = first.matches('fieldset')
    ? (first.querySelector('input:checked') ?? first.querySelector('input'))
    : first;
  const folded = field.closest('details');
  if (folded) folded.open = true;
  field.focus();
  return true;
}
