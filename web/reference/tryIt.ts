import { copy } from '../copy';
import { element } from '../element';
import type * as Key from '../key.js';
import { newUuid } from '../uuid';
import { faultOf, requestOf } from './request';
import { highlighted } from './samples';

/* The drawer with an operation's form: sends the request with the visitor's key and shows the answer. */

/** How long an answer may take, in milliseconds: longer than requests can wait for events. */
const WITHIN = 60_000;
const LATE = `The gateway did not answer within ${WITHIN / 1000} s. Send this again.`;
const UNREACHABLE = 'The gateway cannot be reached. Check your connection, then send this again.';
const EXAMPLE = 'The body is still the example, and sending it changes the data of your organisation.';
const deletion = (url: string): string => `This deletes ${new URL(url).pathname} from the data of your organisation.`;

let loading: Promise<typeof Key> | undefined;

/** Looks the key up when the drawer is opened first: that costs a point of its limit. */
function keys() {
  loading ??= import('../key.js').then(
    (key) => {
      key.onKey(markScopes);
      return key;
    },
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}

/** `curl` writes the request as the form has it. */
export function tryIt(form: HTMLFormElement, curl: () => string): void {
  const dialog = form.closest('dialog');
  const open = document.querySelector<HTMLButtonElement>('#open');
  const output = form.querySelector('output');
  const answer = document.getElementById('answer');
  const body = form.querySelector<HTMLTextAreaElement>('#body');
  const submit = form.querySelector<HTMLElement>('[type=submit]');
  const agree = form.querySelector<HTMLElement>('#agree');
  if (!dialog || !open || !output || !answer || !submit || !agree) return;
  let isSending = false;
  let attempt = 0;
  // a write that was made although its answer was lost is not made again
  let idempotencyKey = newUuid();

  /** Says what happens, or asks what `agree` answers. */
  const say = (words: string, isQuestion = false): void => {
    output.replaceChildren(words);
    // a hidden button loses the focus
    if (!isQuestion && document.activeElement === agree) submit.focus();
    agree.hidden = !isQuestion;
  };
  const show = (...nodes: readonly Node[]): void => {
    answer.replaceChildren(...nodes);
    answer.hidden = false;
    answer.scrollIntoView();
  };
  /** Nothing is sent later that the visitor asked for before; what is being sent goes on. */
  const cancel = (): void => {
    attempt += 1;
    if (!isSending) say('');
  };
  const send = async (isAgreed: boolean): Promise<void> => {
    if (isSending) return;
    attempt += 1;
    const mine = attempt;
    const fault = faultOf(form);
    say(fault?.words ?? '');
    fault?.control.focus();
    if (fault) return;
    const { method, url, headers, body: text, lacksIdempotencyKey } = requestOf(form);
    const isStillExample = method !== 'GET' && body !== null && isExample(body);
    if (!isAgreed && (method === 'DELETE' || isStillExample)) {
      say(method === 'DELETE' ? deletion(url) : EXAMPLE, true);
      return;
    }
    say('Checking your API key…');
    const loaded = await keys().catch(() => undefined);
    if (!loaded) {
      if (mine === attempt) say(UNREACHABLE);
      return;
    }
    const { knownKey, askForKey } = loaded;
    if ((await knownKey()).key === undefined && mine === attempt) {
      say('Waiting for your API key above.');
      if (!(await askForKey())) return;
    }
    const { key } = await knownKey();
    if (mine !== attempt) return;
    isSending = true;
    say('Sending…');
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
          ...(lacksIdempotencyKey && { 'Idempotency-Key': idempotencyKey }),
        },
        body: text ?? null,
        signal: AbortSignal.timeout(WITHIN),
      });
      const content = await response.text();
      const ms = Math.round(performance.now() - start);
      // after a failure, 409 idempotency_in_progress included, the same request may be sent again
      if (response.ok) idempotencyKey = newUuid();
      say(`HTTP ${String(response.status)} in ${String(ms)} ms`);
      show(...answered(response, content, ms));
    } catch (error) {
      const isLate = error instanceof Error && error.name === 'TimeoutError';
      say('No answer');
      show(element('p', { class: 'bad' }, isLate ? LATE : UNREACHABLE));
    }
    isSending = false;
    answer.removeAttribute('aria-busy');
  };

  open.disabled = false;
  open.addEventListener('click', () => {
    dialog.showModal();
    void keys();
  });
  dialog.addEventListener('close', cancel);
  form.addEventListener('input', () => {
    idempotencyKey = newUuid();
    cancel();
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
    // the page's sample cannot be selected behind the drawer
    void copy(button, text, () => {
      const block = codeBlock('Request as curl', text);
      show(block);
      return block;
    });
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
    codeBlock('Answer body', indented(text) || 'No body'),
  ];
}

function codeBlock(label: string, text: string): HTMLElement {
  const code = element('code', {}, ...highlighted(text));
  return element('div', { class: 'code' }, element('pre', { tabindex: '0', 'aria-label': label }, code));
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
