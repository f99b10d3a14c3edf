import type { SearchEntry } from '../src/pages/searchEntry';
import { at } from './base';
import { element } from './element';
import { searchable } from './keyText';
import { hasAll, wordsOf } from './match';

/* The search of all pages: a dialog that the button in the bar or Ctrl-K (⌘ K) opens. What it looks at is loaded when it is opened first. */

const MOST = 20;
/** How long the gateway may take to answer, in milliseconds. */
const WITHIN = 10_000;
const FAILED = 'The search cannot be loaded. Check your connection, then type again.';
const KINDS = { Page: '', REST: 'REST', Guide: 'Guide', Error: 'Error' } as const;
const IS_APPLE = /Mac|iPhone|iPad/.test(navigator.platform);

const button = document.getElementById('find');
if (button) offer(button);

function offer(opener: HTMLElement): void {
  let dialog: ReturnType<typeof createDialog> | undefined;
  const open = (): void => {
    dialog ??= createDialog();
    dialog.open();
  };
  (opener as HTMLButtonElement).disabled = false;
  opener.setAttribute('aria-keyshortcuts', IS_APPLE ? 'Meta+K' : 'Control+K');
  const hint = opener.querySelector('kbd');
  if (hint && IS_APPLE) hint.textContent = '⌘ K';
  opener.addEventListener('click', open);
  addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey, shiftKey, target } = event;
    // on Apple's systems, Ctrl-K deletes the rest of a line
    const [isPressed, isOther] = IS_APPLE ? [metaKey, ctrlKey] : [ctrlKey, metaKey];
    if (key.toLowerCase() !== 'k' || !isPressed || isOther || altKey || shiftKey || event.defaultPrevented) return;
    // GraphiQL's editors have commands that begin with it
    const isTaken = target instanceof Element && target.closest('.CodeMirror');
    if (isTaken || document.querySelector('dialog:modal')) return;
    event.preventDefault();
    open();
  });
}

let loading: Promise<readonly SearchEntry[]> | undefined;

async function load(): Promise<readonly SearchEntry[]> {
  const answer = await fetch(at('/search.json'), { signal: AbortSignal.timeout(WITHIN) });
  if (!answer.ok) throw new Error(`HTTP ${answer.status}`);
  return (await answer.json()) as readonly SearchEntry[];
}

/** A combobox with its listbox (WAI-ARIA practices): the focus stays in the field, the arrow keys choose. */
function createDialog() {
  const field = element('input', {
    type: 'text',
    role: 'combobox',
    'aria-label': 'Search',
    'aria-controls': 'found',
    'aria-expanded': 'false',
    'aria-autocomplete': 'list',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'Operation, guide, error code or page',
  });
  const list = element('div', { id: 'found', role: 'listbox', 'aria-label': 'Found' });
  const status = element('p', { role: 'status' });
  const dialog = element('dialog', { class: 'search', 'aria-label': 'Search' }, field, list, status);
  document.body.append(dialog);

  let options: readonly HTMLElement[] = [];
  let chosen = 0;
  const choose = (to: number): void => {
    chosen = to;
    for (const [index, option] of options.entries()) option.setAttribute('aria-selected', String(index === to));
    options[to]?.scrollIntoView({ block: 'nearest' });
    field.setAttribute('aria-activedescendant', options[to]?.id ?? '');
  };
  const draw = async (): Promise<void> => {
    const text = field.value;
    try {
      loading ??= load();
      const [found, requests] = [findIn(await loading, wordsOf(text)), requestsOf(text)];
      // more was typed meanwhile
      if (text !== field.value) return;
      options = [...found.slice(0, MOST - requests.length), ...requests].map(optionOf);
      list.replaceChildren(...options);
      field.setAttribute('aria-expanded', String(options.length > 0));
      status.textContent = saidOf(found.length + requests.length, text);
      choose(0);
    } catch {
      loading = undefined;
      status.textContent = FAILED;
    }
  };

  field.addEventListener('input', () => void draw());
  field.addEventListener('keydown', (event) => {
    // Enter and the arrow keys choose among what an input method offers
    if (event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && options.length > 0) choose((chosen + step + options.length) % options.length);
    else if (event.key === 'Enter') options[chosen]?.click();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener('click', ({ target }) => {
    // the backdrop, or an option, which may lead to another place of this page
    if (target === dialog || (target instanceof Element && target.closest('[role=option]'))) dialog.close();
  });
  return {
    open(): void {
      dialog.showModal();
      field.select();
      void draw();
    },
  };
}

/** What has all words: first in the title, then in what is shown beside it, then in what it is about. Without words, the pages. */
function findIn(all: readonly SearchEntry[], words: readonly string[]): readonly SearchEntry[] {
  if (words.length === 0) return all.filter(({ kind }) => kind === 'Page');
  const texts: readonly ((entry: SearchEntry) => string)[] = [
    ({ title }) => title,
    ({ title, detail = '', kind }) => `${title} ${detail} ${kind}`,
    ({ title, detail = '', kind, words: more = '' }) => `${title} ${detail} ${kind} ${more}`,
  ];
  const ranked = all.map((one) => ({ one, rank: texts.findIndex((text) => hasAll(text(one), words)) }));
  return texts.flatMap((_text, at) => ranked.filter(({ rank }) => rank === at).map(({ one }) => one));
}

/** On the settings pages, the requests that a text finds: a path, an id or an error code is looked for there. */
function requestsOf(text: string): readonly SearchEntry[] {
  const search = searchable(text).trim();
  if (search === '' || !document.querySelector('.app')) return [];
  const href = `/settings/requests?${new URLSearchParams({ search }).toString()}`;
  return [{ kind: 'Page', title: `Search requests for “${search}”`, detail: 'Settings', href }];
}

function saidOf(count: number, text: string): string {
  if (count === 0) return `Nothing found for “${text.trim()}”`;
  if (text.trim() === '') return 'Type to search';
  return `${count} found${count > MOST ? `, the first ${MOST} are shown` : ''}`;
}

function optionOf({ kind, title, href, detail = '' }: SearchEntry, index: number): HTMLElement {
  return element(
    'a',
    { id: `found-${index}`, role: 'option', href: at(href), tabindex: '-1' },
    element('span', {}, title),
    element('small', {}, detail),
    element('em', {}, KINDS[kind]),
  );
}
