import { copy } from '../copy';
import { element } from '../element';
import type * as Key from '../key.js';
import { newUuid } from '../uuid';
import { controlsOf, requestOf, valuesOf } from './request';
import { highlighted } from './samples';

/* The drawer with an operation's form: sends the request with the visitor's key and shows the answer. */

const UNREACHABLE = 'The gateway cannot be reached. Check your connection, then send this again.';
const EXAMPLE = 'The body is still the example, and sending it changes the data of your organisation.';

let loading: Promise<typeof Key> | undefined;

/** Looks the key up when the drawer is opened first: that costs a point of its limit. */
function keys() {
  loading ??= import('../key.js').then((key) => {
    key.onKey(markScopes);
    return key;
  });
  return loading;
}

/** `curl` writes the request as the form has it. */
export function tryIt(form: HTMLFormElement, curl: () => string): void {
  const dialog = form.closest('dialog');
  const open = document.querySelector<HTMLButtonElement>('#open');
  const output = form.querySelector('output');
  const answer = document.getElementById('answer');
  const body = form.querySelector<HTMLTextAreaElement>('#body');
  const agree = form.querySelector<HTMLElement>('#agree');
  if (!dialog || !open || !output || !answer || !agree) return;
  let isBusy = false;
  const send = async (isAgreed: boolean): Promise<void> => {
    const lacking = controlsOf(form).find((control) => control.required && valuesOf(control).length === 0);
    output.replaceChildren(lacking ? `Enter ${lacking.name} first.` : '');
    lacking?.focus();
    const { knownKey, askForKey } = await keys();
    if (lacking || isBusy) return;
    const { method, url, headers, body: text, lacksIdempotencyKey } = requestOf(form);
    const isAsked = method !== 'GET' && (body === null || isExample(body)) && !isAgreed;
    agree.hidden = !isAsked;
    if (isAsked) {
      output.replaceChildren(EXAMPLE);
      return;
    }
    let { key } = await knownKey();
    if (key === undefined) {
      output.replaceChildren('Waiting for your API key above.');
      if (!(await askForKey())) return;
      ({ key } = await knownKey());
    }
    isBusy = true;
    output.replaceChildren('Sending…');
    answer.setAttribute('aria-busy', 'true');
    const start = performance.now();
    try {
      const response = await fetch(url, {
        method,
        credentials: 'omit',
        headers: {
          ...headers,
          Authorization: `Bearer ${String(key)}`,
          ...(text !== undefined && { 'Content-Type': 'application/json' }),
          ...(lacksIdempotencyKey && { 'Idempotency-Key': newUuid() }),
        },
        body: text ?? null,
      });
      const content = await response.text();
      const ms = Math.round(performance.now() - start);
      output.replaceChildren('');
      answer.replaceChildren(...answered(response, content, ms));
    } catch {
      output.replaceChildren('');
      answer.replaceChildren(element('p', { class: 'bad' }, UNREACHABLE));
    }
    isBusy = false;
    answer.removeAttribute('aria-busy');
    answer.hidden = false;
    answer.scrollIntoView();
  };

  open.disabled = false;
  open.addEventListener('click', () => {
    dialog.showModal();
    void keys();
  });
  dialog.querySelector('#close')?.addEventListener('click', () => {
    dialog.close();
  });
  // the grey beside the drawer
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
  });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void send(event.submitter === agree);
  });
  const button = form.querySelector<HTMLButtonElement>('#curl');
  button?.addEventListener('click', () => {
    const text = curl();
    void copy(button, text, () => document.querySelector('#language pre') ?? form);
  });
}

/** Whether a body is as the page came. */
function isExample(body: HTMLTextAreaElement): boolean {
  try {
    return JSON.stringify(JSON.parse(body.value)) === JSON.stringify(JSON.parse(body.defaultValue));
  } catch {
    return false;
  }
}

/** Marks the scopes that the key lacks; one of several is enough. */
function markScopes({ scopes }: { readonly scopes?: readonly string[] }): void {
  const chips = [...document.querySelectorAll<HTMLElement>('[data-scope]')];
  const isLacking =
    scopes !== undefined &&
    chips.every(({ dataset }) => !dataset.scope?.split(' and ').every((scope) => scopes.includes(scope)));
  for (const note of document.querySelectorAll<HTMLElement>('[data-lacking]'))
    note.hidden = !isLacking || chips.length === 0;
}

function answered(response: Response, text: string, ms: number): readonly Node[] {
  const { status, headers } = response;
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  const code = element('code', {}, ...highlighted(indented(text) || 'No body'));
  return [
    element(
      'p',
      { class: 'answer-head' },
      element('b', { class: `pill ${status < 400 ? 'good' : 'bad'}` }, `HTTP ${status}`),
      ` ${ms} ms · ${sizeOf(text)}`,
    ),
    element(
      'details',
      {},
      element('summary', {}, `${lines.length} headers`),
      element('pre', { tabindex: '0', 'aria-label': 'Answer headers' }, lines.join('\n')),
    ),
    element('div', { class: 'code' }, element('pre', { tabindex: '0', 'aria-label': 'Answer body' }, code)),
  ];
}

function sizeOf(text: string): string {
  const bytes = new TextEncoder().encode(text).length;
  return bytes < 1000 ? `${String(bytes)} B` : `${(bytes / 1000).toFixed(1)} kB`;
}

function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
