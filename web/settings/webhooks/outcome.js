import { element } from '../dom';
import { outcome } from './words';

/* What became of an attempt, with what the endpoint answered. */

/** `what` names the attempt, e.g. `Test event`. */
export function outcomeBox(what, attempt) {
  return element(
    'div',
    { class: `outcome ${attempt.ok ? 'good' : 'bad'}` },
    element('p', {}, element('strong', {}, `${what}: `), outcome(attempt)),
    answerOf(attempt),
  );
}

/** The kept part of an answer; undefined if none was kept. */
export function answerOf({ answer }) {
  if (answer === null) return undefined;
  return element(
    'pre',
    { class: 'answer', tabindex: '0', 'aria-label': 'What it answered' },
    element('code', {}, answer),
  );
}
