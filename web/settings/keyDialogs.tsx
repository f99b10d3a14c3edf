import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { call, type Key, now } from './api';
import { ask, Choice } from './ask';
import { showSecret } from './dialog';
import { callNaming, changed } from './keyChanges';
import * as field from './keyFields';
import { KeyForm } from './keyForm';
import { keyText } from './keyNames';
import { type NewKey, NewKeySheet } from './newKey';
import type { Options } from './parts';
import { exact } from './time';

/* Creating and rotating a key. */

/** What the fields of a new key show at first. Access over MCP is off, unlike that of a key from the API: whoever wants it chooses it. */
const NEW = { name: '', scopes: [], allowed_ranges: [], customer_ids: null, mcp: 'off' } as const;
const ENDS = { options: [...field.IN_DAYS, field.ON_A_DATE, field.NEVER], first: '90' };

export function makeKey(): void {
  ask({
    title: 'New key',
    button: 'Create key',
    asks: true,
    changed,
    Body: () => <KeyForm first={NEW} ends={ENDS} />,
    doing: (entered) => `Creating the key ${field.textOf(entered, 'name')}…`,
    doubt:
      'We couldn’t confirm that the key was created. Look for it in the list before you try again: if it is there, revoke it, since it cannot be shown again.',
    async work(entered) {
      const answer = await callNaming('make', {
        name: field.textOf(entered, 'name'),
        scopes: field.scopesOf(entered),
        expires_at: field.expiryOf(entered),
        allowed_ranges: field.rangesOf(entered),
        mcp: entered.get('mcp') as Key['mcp'],
        customer_ids: field.customerIdsOf(entered),
      });
      return () => showNewKey(answer);
    },
  });
}

/** When the new key expires: after the same lifetime as the old one, or at the same time. */
function nextExpiries({ created_at: created, expires_at: end }: Key): Options {
  if (end === null) return [['', 'never, like the old key'], field.ON_A_DATE];
  const next = new Date(now() + Date.parse(end) - Date.parse(created)).toISOString();
  const sameEnd = [end, `${exact(end)}, like the old key`] as const;
  return [[next, `${exact(next)}, same lifetime`], ...(Date.parse(end) > now() ? [sameEnd] : []), field.ON_A_DATE];
}

export function rotateKey(key: Key): void {
  /** A replaced key expires at the end of its overlap, so the lifetime to repeat is that of its (by now revoked) replacement. */
  function Body(): JSX.Element {
    const { rotated_to: id } = key;
    const [like, setLike] = useState(id === null ? key : undefined);
    useEffect(() => {
      // if the replacement cannot be read, the gateway still uses its lifetime
      if (id !== null) void call('key', { key_id: id }).then(setLike, () => undefined);
    }, []);
    const unknown: Options = [[field.AS_IT_IS, 'the lifetime of the key that replaced it'], field.ON_A_DATE];
    return (
      <>
        <p>
          A new key replaces <strong>{key.name}</strong> (<code>{keyText(key)}</code>), with the same name, scopes and
          allowed addresses and, unless you choose otherwise, the same lifetime.
        </p>
        <EndOfOld />
        <field.Expiry label="The new key expires" options={like ? nextExpiries(like) : unknown} />
      </>
    );
  }
  ask({
    title: 'Rotate this key?',
    button: 'Rotate key',
    asks: true,
    changed,
    Body,
    of: key.id,
    doing: () => `Rotating the key ${key.name}…`,
    doubt: `We couldn’t confirm that the key ${key.name} was rotated. If another key has replaced it, revoke that one, since it cannot be shown again, and rotate this one again.`,
    async work(entered) {
      // a key that was leaked has no overlap
      const lifetimes = { overlap_hours: Number(entered.get('overlap') ?? 0), expires_at: field.expiryOf(entered) };
      const answer = await call('rotate', { key_id: key.id, ...lifetimes });
      return () => showNewKey(answer);
    },
  });
}

/** Asks for how long the old key keeps working: not at all if somebody else has it. */
function EndOfOld(): JSX.Element {
  const [isLeaked, setLeaked] = useState(false);
  const choice = (leaked: boolean, words: string): JSX.Element => (
    <label>
      <input type="radio" name="leaked" checked={leaked === isLeaked} onChange={() => setLeaked(leaked)} />
      {words}
    </label>
  );
  return (
    <>
      <fieldset class="box">
        <legend>Was it leaked?</legend>
        {choice(false, 'No: the old key keeps working for a while')}
        {choice(true, 'Yes: the old key ends at once')}
      </fieldset>
      {!isLeaked && <Choice label="Keep the old key working for" name="overlap" options={OVERLAPS} first="24" />}
      <p class="hint">
        {isLeaked
          ? 'Requests with the old key get 401 as soon as the new one is there.'
          : 'After that, requests with the old key get 401.'}
      </p>
    </>
  );
}

const OVERLAPS: Options = [
  ['1', '1 hour'],
  ['24', '24 hours'],
  ['168', '7 days'],
  ['720', '30 days'],
];

/** Shows a new key. Waits while another dialog is open, since somebody may be typing in it. */
function showNewKey(answer: NewKey): void {
  showSecret(`The key ${answer.api_key.name} is ready. It is shown once.`, 'Show the key', () => (
    <NewKeySheet {...answer} />
  ));
}
