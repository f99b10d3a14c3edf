import { at } from '../base';
import { hasAll, wordsOf } from '../match';

/* The list of topics and operations: its search, and links of earlier versions. */

interface Listed {
  readonly href: string;
  /** `orders/list_orders`. */
  readonly old: string;
  readonly text: string;
}

const operations = JSON.parse(document.getElementById('operations')?.textContent ?? '[]') as readonly Listed[];
const LONGEST_SHOWN = 80;

/** Goes where a link of the form `#/orders/list_orders` or `#/orders` leads; says if there is no such operation. */
export function follow(): void {
  if (!location.hash.startsWith('#/')) return;
  const name = decoded(location.hash.slice(2))
    .replace(/[?&].*$/, '')
    .replace(/\/+$/, '')
    .toLowerCase();
  const found = operations.find(({ old }) => old.toLowerCase() === name);
  const group = document.getElementById(`/${name}`);
  const lost = document.getElementById('lost');
  if (found) location.replace(at(found.href));
  else if (group) group.scrollIntoView();
  else if (lost) lost.textContent = `There is no operation ${name.slice(0, LONGEST_SHOWN)}. Search for it in the list.`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Makes the search field work: it leaves what has all of its words. */
export function searchable(): void {
  addEventListener('hashchange', follow);
  const list = document.querySelector('.menu');
  const field = list?.querySelector<HTMLInputElement>('#search');
  const [status, none] = [list?.querySelector('[role=status]'), list?.querySelector<HTMLElement>('.none')];
  if (!list || !field || !status || !none) return;
  const known = new Map(operations.map((operation) => [at(operation.href), operation]));
  const links = [...list.querySelectorAll<HTMLAnchorElement>('li a')];
  const groups = [...list.querySelectorAll<HTMLDetailsElement>('details')].map((group) => ({
    group,
    wasOpen: group.open,
  }));
  const narrow = (): void => {
    const words = wordsOf(field.value);
    const nameOf = (link: HTMLAnchorElement): string =>
      `${link.textContent} ${link.title} ${known.get(link.pathname)?.old ?? ''}`;
    const named = links.filter((link) => hasAll(nameOf(link), words));
    // an error code, a header or a parameter
    const mentioned = (link: HTMLAnchorElement): boolean =>
      hasAll(nameOf(link) + (known.get(link.pathname)?.text ?? ''), words);
    const found = named.length > 0 ? named : links.filter(mentioned);
    for (const link of links) link.closest('li')?.toggleAttribute('hidden', !found.includes(link));
    for (const { group, wasOpen } of groups) {
      group.hidden = !found.some((link) => group.contains(link));
      group.open = words.length > 0 || wasOpen;
    }
    none.hidden = found.length > 0;
    none.querySelector('b')?.replaceChildren(field.value.trim());
    status.textContent = `${String(found.length)} found`;
  };
  field.disabled = false;
  field.addEventListener('input', narrow);
  field.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter' && field.value.trim() !== '') links.find((link) => !link.closest('li')?.hidden)?.click();
  });
  addEventListener('keydown', (event) => {
    const { key, target, ctrlKey, metaKey, altKey } = event;
    const isTyping = target instanceof Element && target.closest('input, textarea, select, dialog');
    if (key !== '/' || ctrlKey || metaKey || altKey || isTyping || !field.checkVisibility()) return;
    event.preventDefault();
    field.select();
  });
  // narrowed before Back, or typed before the script ran
  if (field.value !== '') narrow();
}
