import { at } from '../base';
import { hasAll, wordsOf } from '../match';

/* The list of topics and operations: its search. */

interface Listed {
  readonly href: string;
  /** `list_orders`. */
  readonly id: string;
  readonly text: string;
}

const operations = JSON.parse(document.getElementById('operations')?.textContent ?? '[]') as readonly Listed[];

/** Makes the search field work: it leaves what has all of its words. */
export function searchable(): void {
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
      `${link.textContent} ${link.title} ${known.get(link.pathname)?.id ?? ''}`;
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
