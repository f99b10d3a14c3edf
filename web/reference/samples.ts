import { tokensOf } from '../../src/pages/tokens';
import { LANGUAGES, type SampleRequest } from '../../src/pages/samples';
import { element } from '../element';
import { store, stored } from '../storage';
import { newUuid } from '../uuid';
import { requestOf } from './request';

/* The samples of an operation, which follow the form. */

const LANGUAGE = 'scopegate:language';

/** Keeps the samples as the form is filled in; returns the request as curl. */
export function samples(form: HTMLFormElement): () => string {
  const place = document.querySelector('#language');
  const blocks = [...(place?.querySelectorAll('pre code') ?? [])];
  let idempotencyKey = newUuid();
  const request = (): SampleRequest => {
    const { lacksIdempotencyKey, ...request } = requestOf(form);
    return { ...request, idempotencyKey: lacksIdempotencyKey ? idempotencyKey : undefined };
  };
  const write = (): void => {
    for (const [at, block] of blocks.entries())
      block.replaceChildren(...highlighted(LANGUAGES[at]?.write(request()) ?? ''));
  };
  // an Idempotency-Key for another request is refused, and what is copied again is meant to run again
  const renew = (): void => {
    idempotencyKey = newUuid();
    write();
  };
  form.addEventListener('input', renew);
  place?.querySelector('[data-copy]')?.addEventListener('copied', renew);
  write();
  return () => {
    const text = LANGUAGES[0]?.write(request()) ?? '';
    renew();
    return text;
  };
}

/** Longer texts would need too many elements. */
const MOST_HIGHLIGHTED = 50_000;

export function highlighted(text: string): readonly (string | Node)[] {
  if (text.length > MOST_HIGHLIGHTED) return [text];
  return tokensOf(text).map(({ kind, text: piece }) =>
    kind === undefined ? piece : element('span', { class: kind }, piece),
  );
}

/** The language that was chosen last, for all operations. */
export function rememberLanguage(): void {
  for (const input of document.querySelectorAll<HTMLInputElement>('[name=language]')) {
    input.addEventListener('change', () => store('localStorage', LANGUAGE, input.id));
    if (stored('localStorage', LANGUAGE) === input.id) input.checked = true;
  }
}
