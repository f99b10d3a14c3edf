import type { JSX } from 'preact';
import { type Answer, call, type Key } from './api';
import { Reading } from './list';
import { counted } from './numbers';
import { Filter, type Options } from './parts';

/* Names of keys, links to their pages, and their scopes in words. */

const keys = new Map<string, Named>();

/** A visible character: no control, space, mark, or anything that is drawn as nothing. */
const SEEN = /[^\p{C}\p{Z}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u;

type Named = Pick<Key, 'id' | 'name' | 'prefix' | 'last_four'>;

/** What lists show of a key's value. */
export const keyText = ({ prefix, last_four: lastFour }: Named): string => `${prefix}…${lastFour}`;

/** A key's name, or the shown part of its value if the name is invisible. */
export const shownName = (key: Named): string => (SEEN.test(key.name) ? key.name : keyText(key));

/** How many resources are named before the rest is a count. */
const NAMED = 3;

/** `products read + write, orders read, quotes read +2`: the scopes of a key by resource. */
export function scopesInWords(scopes: readonly string[], most = NAMED): string {
  const actions = new Map<string, string[]>();
  for (const scope of scopes) {
    const [resource = '', action = ''] = scope.split(':');
    actions.set(resource, [...(actions.get(resource) ?? []), action]);
  }
  const named = [...actions].map(([resource, can]) => `${resource} ${can.join(' + ')}`);
  const more = named.length - most;
  return `${named.slice(0, most).join(', ')}${more > 0 ? ` +${String(more)}` : ''}`;
}

/** Whose data a key has: `2 customers`. */
export function customersInWords(ids: readonly string[] | null | undefined): string {
  return ids ? counted(ids.length, 'customer') : 'all customers';
}

export function noteNames(read: readonly Named[]): void {
  for (const key of read) keys.set(key.id, key);
}

/** The name of a key; undefined until it has been read. */
export function nameOf(id: string): string | undefined {
  const key = keys.get(id);
  return key && shownName(key);
}

const unnamed = (id: string): string => `key ${id.slice(0, 8)}`;

/** The last four characters of a key that shares its name with others, as after a rotation. */
function lastFourOf(id: string): string {
  const key = keys.get(id);
  const isShared = key && [...keys.values()].some((other) => other.name === key.name && other.id !== id);
  return isShared ? ` …${key.last_four}` : '';
}

/** Reads the names of these keys that are still unknown; failures are ignored. */
export async function readNames(ids: readonly string[]): Promise<void> {
  const unknown = new Set(ids.filter((id) => !keys.has(id)));
  await Promise.all(
    [...unknown].map((id) =>
      call('key', { key_id: id }).then(
        (key) => noteNames([key]),
        () => undefined,
      ),
    ),
  );
}

type NewestKeys = Reading<Answer<'newestKeys'>>;

/** The newest keys; with the name of the one that is chosen, if that is another. */
export function createNewestKeys(
  read: (operation: 'newestKeys') => Promise<Answer<'newestKeys'>>,
  draw: () => void,
  chosen = () => '',
): NewestKeys {
  return new Reading(async () => {
    const answer = await read('newestKeys');
    noteNames(answer.data);
    await readNames([chosen()].filter(Boolean));
    return answer;
  }, draw);
}

interface KeyChoiceProps {
  /** The id of the chosen key; empty for any. */
  readonly of: string;
  readonly keys: NewestKeys;
  readonly change: (to: string) => void;
}

/** A choice of one of the newest keys. */
export function KeyChoice({ of: key, keys: { value }, change }: KeyChoiceProps): JSX.Element {
  const { data = [], has_more: hasMore = false } = value ?? {};
  const isOlder = key !== '' && !data.some(({ id }) => id === key);
  const options: Options = [
    ['', 'any'],
    ...(isOlder ? [[key, nameOf(key) ?? unnamed(key)] as const] : []),
    ...data.map((recent) => [recent.id, `${shownName(recent)} …${recent.last_four}`] as const),
  ];
  return (
    <Filter label="Key" of={key} options={options} change={change}>
      {hasMore && <option disabled>Older keys: on their own pages</option>}
    </Filter>
  );
}

interface KeyLinkProps {
  readonly id: string;
  readonly search?: string;
  /** Whether it shows the last four characters if another key has the same name. */
  readonly hasLastFour?: boolean;
}

/** A link to the page of a key; it takes at most two lines. */
export function KeyLink({ id, search = '', hasLastFour = false }: KeyLinkProps): JSX.Element {
  const name = nameOf(id) ?? unnamed(id);
  return (
    <>
      <a class="key-name" href={`/settings/keys/${id}${search}`} title={name}>
        {name}
      </a>
      {hasLastFour && <span class="count">{lastFourOf(id)}</span>}
    </>
  );
}
